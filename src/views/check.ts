import type { Provider } from '../daemon/ports.ts';
import type { Outcome } from '../domain/outcome.ts';
import type { Calendar, Clock, Random, StoreReader } from '../domain/ports.ts';
import type { Settings } from '../domain/settings.ts';
import { startMonitor } from '../engine/monitor.ts';
import { observePoll } from '../engine/observe.ts';
import { reserve } from '../engine/request-guard.ts';
import type { WatchedAccount } from '../engine/watched-account.ts';
import { createViews } from './create-views.ts';
import type { AccountView, Explanation } from './views.ts';

/** One account, polled now and judged by its rules with what the database remembers of it. */
export interface CheckedAccount {
  readonly view: AccountView;
  readonly outcome: Outcome;
  readonly explanations: readonly Explanation[];
}

const notAsked: Outcome = {
  kind: 'rate_limited',
  reason: 'not asked: the provider has just limited the rate of another account with this key',
  durationMs: 0,
  usage: {},
};

/**
 * Polls accounts once and says what each rule makes of it. Stores nothing, tells nobody. Accounts that share
 * a secret are polled as far apart as the guard of the daemon asks; once the provider limits the rate of one, the
 * others are not polled any more.
 */
export async function checkAccounts(parts: {
  readonly settings: Settings;
  /** Null checks all of them. */
  readonly account: string | null;
  readonly provider: Provider;
  readonly reader: StoreReader;
  readonly clock: Clock;
  readonly random: Random;
  readonly calendar: Calendar;
  readonly signal: AbortSignal;
}): Promise<readonly CheckedAccount[]> {
  const { settings, reader, clock, random, calendar } = parts;
  const state = startMonitor({ settings, reader, calendar, random, now: clock.now() });
  const views = createViews({ state, reader, now: () => clock.now(), nextPollAt: () => null });
  const free = new Map<string, number>();
  const limited = new Set<string>();
  const chosen = [...state.accounts.values()].filter(
    ({ settings: it }) => parts.account === null || it.id === parts.account,
  );

  const check = async (
    account: WatchedAccount,
    it: { readonly group: string; readonly startInMs: number },
  ): Promise<CheckedAccount> => {
    await sleep(clock, it.startInMs);
    const outcome = limited.has(it.group)
      ? notAsked
      : await parts.provider.readBalance(account.settings, parts.signal);
    if (outcome.kind === 'rate_limited') limited.add(it.group);
    observePoll(state, account, outcome, clock.now());
    const view = views.account(account.settings.id);
    if (view === null) throw new Error('an account vanished while it was checked');
    return { view, outcome, explanations: views.explain(account.settings.id) };
  };
  return Promise.all(
    chosen.map((account) => {
      const group = state.groups.get(account.settings.id) ?? account.settings.id;
      const place = reserve(free.get(group) ?? 0, 0, settings.provider.maxRequestsPerSecond);
      free.set(group, place.nextFreeAt);
      return check(account, { group, startInMs: place.startAt });
    }),
  );
}

function sleep(clock: Clock, ms: number): Promise<void> {
  return ms === 0 ? Promise.resolve() : new Promise((resolve) => clock.setTimer(ms, resolve));
}
