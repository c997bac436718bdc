import { nextTurn } from '../daemon/slices.ts';
import type { Rule } from '../domain/rule.ts';
import type { Settings } from '../domain/settings.ts';
import { dayMs } from '../domain/time.ts';
import type { Calendar, Clock } from '../ports/clock.ts';
import type { StoreReader } from '../ports/store.ts';
import { ruleKindOf } from '../rules/registry.ts';
import { emptyReader } from '../views/empty-reader.ts';
import type { ReplayedIncident } from './incident-book.ts';
import { type AccountPast, storedPast } from './past.ts';
import { createReplay } from './replay.ts';
import type { ReplayResult } from './replay-engine.ts';

/** The incidents that a rule with other values would have reported about the past of one account, compared with the rule in force. */
export interface Trial {
  readonly since: number;
  readonly until: number;
  readonly tried: readonly ReplayedIncident[];
  /** Null when there is no such rule yet. */
  readonly present: readonly ReplayedIncident[] | null;
}

/** Why nothing can be said about the time asked for. */
export type NotTried = 'not-watched' | 'not-read';

export interface TrialOrder {
  readonly account: string;
  readonly facts: AccountPast['facts'];
  readonly tried: Rule;
  /** The rule in force; null when there is none. */
  readonly present: Rule | null;
  readonly since: number;
}

export interface TrialDependencies {
  readonly settings: () => Settings;
  readonly reader: StoreReader;
  readonly calendar: Calendar;
  readonly clock: Clock;
}

/** Each trial takes a good part of a processor: more at once would all be slower, and so would the daemon. */
const maxAtOnce = 2;
const maxMs = 30_000;
/** The time before the time that is asked for, from whose readings forecasts learn. */
const learningMs = 35 * dayMs;
/** After this much work everything else has its turn. */
const sliceMs = 8;
const minPolls = 50;
const maxPolls = 2_000;
const triedId = 'as tried';

export type Trials = ReturnType<typeof createTrials>;

/** Tries rules on stored history while the daemon runs: in slices, few at once, and not for long. */
export function createTrials(parts: TrialDependencies) {
  let running = 0;
  return {
    /**
     * `busy` while enough others run; `too-long` if it did not end in time. `not-watched`: no poll of that time is stored. `not-read`: the rule
     * is about readings, and no poll of that time brought one. In both cases nobody may say that nothing would have been reported.
     */
    async run(order: TrialOrder): Promise<Trial | 'busy' | 'too-long' | NotTried> {
      if (running >= maxAtOnce) return 'busy';
      running += 1;
      return replayInTime(parts, order).finally(() => {
        running -= 1;
      });
    },
  };
}

async function replayInTime(
  { settings: inForce, reader, calendar, clock }: TrialDependencies,
  order: TrialOrder,
): Promise<Trial | 'too-long' | NotTried> {
  const { account: id, tried, present, since, facts } = order;
  const settings = inForce();
  const now = clock.now();
  const account = settings.accounts.find((known) => known.id === id);
  if (account === undefined) return 'not-watched';
  // Both rules, the tried one and the one in force, already have the account's thresholds.
  const watched = { ...account, thresholds: {} };
  const span = { since: since - learningMs, now, facts };
  const past = { ...storedPast(reader, watched, span), before: emptyReader };
  const asConfigured = (rule: Rule): Rule => ({ ...rule, builtIn: false });
  const rules = [...(present === null ? [] : [present]), { ...tried, id: triedId }].map(asConfigured);
  const replay = createReplay({ settings: { ...settings, rules }, calendar, pasts: [past] });
  const begunAt = clock.monotonic();
  for (let polls = minPolls; clock.monotonic() - begunAt < maxMs; ) {
    const sliceAt = clock.monotonic();
    const result = await replay.advance(polls);
    if (result !== null) return compare(result, order, now);
    const tookMs = clock.monotonic() - sliceAt;
    polls = Math.min(maxPolls, Math.max(minPolls, Math.round(tookMs > sliceMs ? polls / 2 : polls * 1.5)));
    await nextTurn();
  }
  return 'too-long';
}

function compare(result: ReplayResult, { tried, present, since }: TrialOrder, now: number): Trial | NotTried {
  const [watched] = result.accounts;
  if (watched === undefined || watched.lastAt < since) return 'not-watched';
  if (ruleKindOf(tried).needsReading && (watched.lastReadAt ?? 0) < since) return 'not-read';
  const notified = (rule: string): readonly ReplayedIncident[] =>
    result.incidents.filter(
      (it) => it.rule === rule && (it.event ? it.firedAt : (it.resolvedAt ?? now)) >= since,
    );
  return {
    since: Math.max(since, result.since),
    until: result.until,
    tried: notified(triedId),
    present: present === null ? null : notified(present.id),
  };
}
