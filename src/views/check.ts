import { createHistoryLoader } from '../daemon/history-loader.ts';
import { guardFor, rememberLastPoll } from '../daemon/rate-guard.ts';
import { entryOf } from '../domain/provider-entry.ts';
import { blockedUntil, observePoll } from '../engine/observe.ts';
import { startMonitor } from '../engine/restore.ts';
import { groupOf, type WatchedAccount } from '../engine/state.ts';
import { pauseOrEnd } from '../net/deadline.ts';
import type { Provider } from '../ports/provider.ts';
import { sayDuration } from '../wording/moments.ts';
import { nothingAsked } from './account-summary.ts';
import { createViews } from './create-views.ts';
import type { StoredDependencies } from './stored-views.ts';

/** One account, polled now and judged by its rules with what the database remembers of it. */
export type CheckedAccount = Awaited<ReturnType<typeof checkAccounts>>[number];

/**
 * Polls accounts once and says what each rule makes of it. Stores nothing, notifies nobody. Accounts that share
 * a secret are polled as far apart from one another, and from the last stored poll, as the guard of the daemon asks. Once
 * the provider limits the rate of one, the others are not polled any more, nor are accounts that have to wait by what is stored.
 */
export async function checkAccounts(
  parts: StoredDependencies & {
    /** Null checks all of them. */
    readonly account: string | null;
    readonly provider: Provider;
    readonly signal: AbortSignal;
  },
) {
  const { settings, reader, clock, random, calendar } = parts;
  const now = () => clock.now();
  const state = startMonitor({ settings, stored: await reader.load(), calendar, random, now: now() });
  const historyLoader = createHistoryLoader(state, reader, now);
  const views = createViews(() => ({ state, reader, historyLoader, now, nextPollAt: () => null }));
  const startedAt = clock.now();
  const guard = guardFor(state);
  for (const account of state.accounts.values()) rememberLastPoll(guard, state, account, startedAt);

  const check = async (account: WatchedAccount, startAt: number) => {
    await pauseOrEnd(clock, startAt - startedAt, parts.signal);
    const blocked = blockedUntil(state, account.id);
    const at = now();
    const { polled } = entryOf(settings, account.settings);
    const trySend = () => guard.trySend(groupOf(state, account.id), now());
    const outcome =
      blocked > at || !polled
        ? null
        : await parts.provider.readBalance(account.settings, parts.signal, trySend);
    await historyLoader.of(account);
    if (outcome !== null) observePoll(state, account, outcome, clock.now());
    const view = await views.account(account.id);
    if (view === null) throw new Error('an account vanished while it was checked');
    const explanations = await views.explain(account.id);
    if (!polled) return { view, outcome: view.outcome, reason: nothingAsked, explanations };
    const reason =
      outcome === null
        ? `not asked: the provider refused lately; the next poll is due in ${sayDuration(blocked - at)}`
        : outcome.kind === 'ok'
          ? null
          : outcome.reason;
    /** Null when the account was not asked, because the provider refused lately; an account whose readings are pushed has its last outcome. */
    return { view, outcome: outcome?.kind ?? null, reason, explanations };
  };
  const chosen = [...state.accounts.values()].filter(
    ({ id }) => parts.account === null || id === parts.account,
  );
  return Promise.all(
    chosen.map((account) => check(account, guard.startAt(account.id, groupOf(state, account.id), startedAt))),
  );
}
