import { isSameCurrency } from '../domain/money.ts';
import { type AnnouncedRun, tookOf } from '../domain/operator.ts';
import { amountOf, hasBalances, type Reading } from '../domain/reading.ts';
import { keptAfterEndMs } from '../domain/route.ts';
import { spendingSettings } from './spending.ts';
import type { MonitorState, WatchedAccount } from './state.ts';

/**
 * Adds up the spending in announced runs, by what was usual before the newest reading was learned from; runs that are long over are
 * forgotten. `previous`: as for `receiveTopUps`. Returns the runs as they are now; null if they are as before.
 */
export function runsAfter(
  state: MonitorState,
  account: WatchedAccount,
  previous: Reading | null,
): readonly AnnouncedRun[] | null {
  const { reading } = account.poll;
  const known = state.announced.get(account.id);
  if (known === undefined || reading === null) return null;
  const runs = known.filter(({ endsAt }) => reading.at < endsAt + keptAfterEndMs);
  const isComparable = previous !== null && previous.at < reading.at;
  const after = isComparable ? addSpending(account, runs, { previous, reading }) : runs;
  return runs.length < known.length || after.some((run, index) => run !== runs[index]) ? after : null;
}

/** A run that has begun already, with what it took since it began, as far back as the log has readings. What other runs took stays theirs. */
export function withItsPast(account: WatchedAccount, run: AnnouncedRun): AnnouncedRun {
  const { settings, log, announced } = account;
  // Other runs come first, even one that ends later.
  const others = announced.map((other) => ({
    ...{ ...other, endsAt: Math.min(other.endsAt, run.endsAt) },
    ...{ spentMicros: 0, usualMicros: 0 },
  }));
  let runs: readonly AnnouncedRun[] = [...others, run];
  let previous: Reading | undefined;
  for (const reading of log.readings(0)) {
    if (!isSameCurrency(reading.currency, settings.currency ?? reading.currency)) break;
    if (previous !== undefined) runs = addSpending(account, runs, { previous, reading });
    previous = reading;
  }
  return runs.at(-1) ?? run;
}

/**
 * Spending beyond the usual belongs to the run that ends first, until that took what was announced. A gap between readings may be longer
 * than the run in it: what is beyond the usual in the gap is the run's.
 */
function addSpending(
  account: WatchedAccount,
  runs: readonly AnnouncedRun[],
  { previous, reading }: Readonly<Record<'previous' | 'reading', Reading>>,
): readonly AnnouncedRun[] {
  // Nothing is known of a balance that was not configured then, or no longer is.
  const open = runs
    .filter((run) => [previous, reading].every((each) => hasBalances(each, [{ id: run.balance }])))
    .filter(({ startsAt, endsAt }) => startsAt < reading.at && previous.at < endsAt)
    .toSorted((left, right) => left.endsAt - right.endsAt);
  const after = new Map<AnnouncedRun, AnnouncedRun>();
  for (const [balance, own] of Map.groupBy(open, (run) => run.balance)) {
    const fell = Math.max(0, amountOf(previous, balance) - amountOf(reading, balance));
    let beyond = fell - account.spending.usualBetween(balance, previous.at, reading.at);
    for (const run of own) {
      const from = Math.max(previous.at, run.startsAt);
      const to = Math.min(reading.at, run.endsAt);
      const share = (to - from) / (reading.at - previous.at);
      const usual = account.spending.usualBetween(balance, from, to);
      const left = Math.max(0, run.amountMicros - tookOf(run));
      // Spending below the usual counts for the first run, spending beyond all of them for the last.
      const fits = Math.min(beyond, left);
      const took = beyond < 0 ? beyond * share : run === own.at(-1) ? fits + (beyond - fits) * share : fits;
      beyond = beyond < 0 ? 0 : beyond - took;
      after.set(run, {
        ...run,
        spentMicros: run.spentMicros + Math.round(usual + took),
        usualMicros: run.usualMicros + Math.round(usual),
      });
    }
  }
  return runs.map((run) => after.get(run) ?? run);
}

export function keepAnnounced(state: MonitorState, account: string, runs: readonly AnnouncedRun[]): void {
  state.announced.set(account, runs);
  forecastWithRuns(state, account);
}

export function restoreAnnounced(state: MonitorState): void {
  state.announced.restore();
  for (const account of state.announced.keys()) forecastWithRuns(state, account);
}

/** The forecast takes the account's runs into account from now on. */
function forecastWithRuns(state: MonitorState, id: string): void {
  const account = state.accounts.get(id);
  if (account !== undefined) account.spending.adopt(spendingSettings(state, account));
}
