import type { Outcome, ProviderFacts } from '../../src/domain/reading.ts';
import type { Settings } from '../../src/domain/settings.ts';
import { batchStored, takeBatch } from '../../src/engine/batch.ts';
import { observePoll } from '../../src/engine/observe.ts';
import { startMonitor } from '../../src/engine/restore.ts';
import { endTurn } from '../../src/engine/turn.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-store.ts';
import { cronCalendar } from '../../src/system/calendar.ts';
import { seededRandom } from './seeded-random.ts';

/** One poll of an account: balances in millionths and what was said beside them, or the way in which it failed. */
export interface SeedPoll {
  readonly facts?: ProviderFacts;
  readonly account: string;
  readonly at: number;
  readonly answer: { readonly sms: number; readonly voip?: number } | Exclude<Outcome['kind'], 'ok'>;
}

/** Fills a database as a daemon would have that lived through these polls, oldest first. */
export function seedDatabase(path: string, settings: Settings, polls: readonly SeedPoll[]): void {
  const silent = { debug() {}, info() {}, warn() {}, error() {}, fatal() {} };
  const now = polls[0]?.at ?? 0;
  const store = openSqliteStore({ path, log: silent, now: () => now, program: 'lowwater test' });
  const state = startMonitor({
    settings,
    calendar: cronCalendar,
    random: seededRandom(),
    stored: store.load(),
    now,
  });
  for (const { account, at, answer, facts } of polls) {
    while (state.due.nextAt < at) endTurn(state, state.due.nextAt);
    const watched = state.accounts.get(account);
    if (watched === undefined) throw new Error(`no account ${account}`);
    observePoll(state, watched, outcomeOf(answer, facts), at);
    endTurn(state, at);
  }
  // As few commits as it takes: what is tested is what is in the database, not how it got there.
  for (let batch = takeBatch(state); batch !== null; batch = takeBatch(state)) {
    store.commit(batch);
    batchStored(state, batch);
  }
  store.close();
}

function outcomeOf(answer: SeedPoll['answer'], facts: SeedPoll['facts']): Outcome {
  const common = { durationMs: 10, usage: {} };
  return typeof answer === 'string'
    ? { kind: answer, reason: 'as the test says', ...common }
    : { kind: 'ok', answer: { balances: { ...answer }, currency: 'CNY' }, facts, ...common };
}
