import type { Runway } from '../domain/message.ts';
import { isSameCurrency } from '../domain/money.ts';
import { type AnnouncedRun, missingOf } from '../domain/operator.ts';
import { ownOf } from '../domain/own.ts';
import type { Forecast } from '../domain/quantity.ts';
import { amountOf, type Balance, isInCurrency, type Reading } from '../domain/reading.ts';
import { dayMs, minuteMs } from '../domain/time.ts';
import type { HistoryQuery, StoredSpending } from '../ports/store.ts';
import { alertKindOf, spendingLookback } from '../rules/registry.ts';
import { AccountSpending } from '../spending/account-spending.ts';
import { type LocalWeek, passLeadTime, weekOf } from '../spending/local-week.ts';
import { runway } from '../spending/runway.ts';
import { readingsPerPace } from '../spending/usual-interval.ts';
import { scheduleAccount } from './judge.ts';
import { emptyAt, floorOf, type MonitorState, type WatchedAccount } from './state.ts';

/**
 * Since when stored readings have to be loaded. The log reaches back from the newest reading, and needs the one before its window too.
 * Each account loads its own when it is first polled or looked at, before any other reading is appended: loading all at once would delay the start.
 */
export function loadSince(state: MonitorState, account: WatchedAccount, now: number): number {
  return Math.min(account.log.reloadSince(newestAt(account, now)), spendingKnownSince(state, account));
}

/** Whether enough readings, oldest first, lie before the log's window to show the pace: an account may be read more seldom than configured. */
export function showPace(readings: readonly Reading[], account: WatchedAccount, now: number): boolean {
  const known = readings[readingsPerPace - 1]?.at ?? Number.POSITIVE_INFINITY;
  return known <= newestAt(account, now) - account.log.windowMs;
}

function newestAt({ poll }: WatchedAccount, now: number): number {
  return Math.min(now, poll.reading?.at ?? now);
}

/**
 * Fills the log as if lowwater had not restarted. Readings come in the order in which they were stored: sorted by time, those from
 * before and after a clock change would alternate and look like spending. Without readings, because they could not be read,
 * rules that look back begin without history.
 */
export function loadHistory(state: MonitorState, account: WatchedAccount, loaded: LoadedHistory): void {
  state.unloaded.delete(account.id);
  const readings = loaded.readings.filter(
    (reading) => reading.at >= account.poll.seriesSince && isInCurrency(account.settings, reading),
  );
  for (const reading of readings) account.log.append(reading);
  if (loaded.areAll) state.unlearned.delete(account.id);
  const knownSince = spendingKnownSince(state, account);
  for (const reading of readings) if (reading.at >= knownSince) account.spending.read(reading);
  // The account's schedule waited for its history.
  scheduleAccount(state, account);
}

export interface LoadedHistory {
  readonly readings: readonly Reading[];
  readonly areAll: boolean;
}

/** Older history adds nothing to what ten weeks say. */
const historyMs = 70 * dayMs;

/** Adds a reading to log and spending. One in another currency is skipped, and what is known goes on after it. The end of an hour is stored. */
export function takeIn(state: MonitorState, account: WatchedAccount, reading: Reading): void {
  if (!isInCurrency(account.settings, reading)) return;
  account.log.append(reading);
  // While the spending is learned from history it must not begin with the present.
  if (state.unlearned.has(account.id)) return;
  // The provider may give another credit limit with each reading.
  if (account.spending.floorMicros !== floorOf(account))
    account.spending.adopt(spendingSettings(state, account));
  if (account.spending.read(reading)) state.spending.set(account.id, account.spending);
}

/** The spending of an account under its present settings. Another time zone or currency means learning again. */
export function followSpending(
  state: MonitorState,
  account: Pick<WatchedAccount, 'settings' | 'poll'>,
  isMoved: boolean,
): void {
  const { id } = account.settings;
  const settings = spendingSettings(state, account);
  const known = state.spending.get(id);
  if (!isMoved && known !== undefined && isOfCurrency(account, known.last) && known.adopt(settings)) return;
  state.spending.setInMemory(id, new AccountSpending(id, settings));
  if (isMoved) state.unlearned.delete(id);
  else state.unlearned.add(id);
}

/** Whether what is known of an account goes on to its newest reading: readings in another currency than the configured one were left out. */
export function isOfCurrency(
  { settings, poll: { reading } }: Pick<WatchedAccount, 'settings' | 'poll'>,
  last: Pick<Reading, 'currency'> | null,
): boolean {
  const newest = reading !== null && isInCurrency(settings, reading) ? reading : last;
  if (last === null || newest === null) return newest === null;
  return isInCurrency(settings, last) && isSameCurrency(last.currency, newest.currency);
}

export function spendingSettings(state: MonitorState, account: Pick<WatchedAccount, 'settings' | 'poll'>) {
  const { settings } = account;
  const announced = state.announced.get(settings.id) ?? noRuns;
  const { balances } = settings;
  return { week: weekOf(settings), balances, floorMicros: floorOf(account), announced };
}

const noRuns: readonly AnnouncedRun[] = [];

/** Missing state, or state of another version or time zone, is learned from history later (`learnFromHistory`). */
export function restoreSpending(
  state: MonitorState,
  account: WatchedAccount,
  stored: StoredSpending | undefined,
): void {
  const { poll } = account;
  const isRestored = stored !== undefined && account.spending.restore(stored.bytes);
  const isOfSeries = (account.spending.last?.at ?? 0) >= poll.seriesSince;
  if (isRestored && !(isOfSeries && isOfCurrency(account, account.spending.last))) {
    // It is of another account of the provider, or in another currency than is configured now.
    followSpending(state, account, true);
    state.unlearned.add(account.id);
  } else if (isRestored || poll.reading === null) {
    // Without history, the spending begins now.
    state.unlearned.delete(account.id);
  }
}

/** Readings from this instant on are missing in the spending; infinity when all of it is learned from history. */
function spendingKnownSince(state: MonitorState, { id, spending }: WatchedAccount): number {
  return state.unlearned.has(id) ? Number.POSITIVE_INFINITY : (spending.last?.at ?? 0) + 1;
}

/** Learns one account's spending from stored history, in slices, while polling goes on. */
export function learnFromHistory(state: MonitorState, account: WatchedAccount, now: number) {
  const { id, poll } = account;
  const spending = new AccountSpending(id, spendingSettings(state, account));
  const since = Math.max(now - historyMs, poll.seriesSince);
  const query: HistoryQuery = { account: id, since, until: Number.MAX_SAFE_INTEGER, asStored: true };
  const isOver = (): boolean => !state.unlearned.has(id);
  return { query, isOver, take, finish };

  function take(readings: readonly Reading[]): void {
    for (const reading of readings) if (isInCurrency(account.settings, reading)) spending.read(reading);
  }

  /** Ends the learning. Readings that came meanwhile may not be stored yet, but are in the log. */
  function finish(): void {
    const present = state.accounts.get(id);
    if (present === undefined || isOver()) return;
    const learnedTo = spending.last?.at ?? 0;
    for (const reading of present.log.readings(learnedTo + 1)) spending.read(reading);
    state.unlearned.delete(id);
    state.spending.set(id, spending);
    // Time decides nothing while nobody can judge by the spending.
    scheduleAccount(state, present);
  }
}

/** The runway that follows from the spending of a balance; null before the first reading. */
export function runwayOf(account: WatchedAccount, balance: Balance, now: number): Runway | null {
  const { reading } = account.poll;
  if (reading === null || ownOf(reading.balances, balance) === undefined) return null;
  const lookbackMs = spendingLookback(account.rules, balance);
  const { log, spending, settings } = account;
  const { leadTimeMs } = settings;
  const floorMicros = emptyAt(account, balance);
  const seen = runway({ log, spending, reading, balance, floorMicros, lookbackMs, now });
  const expected = expectedOf(account, seen, now);
  const neededAt = (expected?.forecast ?? seen.forecast)?.earliest ?? null;
  const { restoreMicros } = seen;
  return {
    ...seen,
    ...(seen.runwayMs !== null && seen.runwayMs <= 0 && amountOf(reading, balance) > seen.emptyMicros
      ? { isEndPredicted: true }
      : {}),
    payBy:
      neededAt === null || leadTimeMs === null || seen.emptyAt === null
        ? null
        : lastMinute(spending.week, passLeadTime(spending.week, neededAt, -leadTimeMs)),
    restoreMicros: restoreMicros === null ? null : Math.max(0, restoreMicros - (expected?.inTimeMicros ?? 0)),
    expected,
  };
}

/** An instant to act by at the end of a working day is moved into that day: whoever is told the next day would be late. */
function lastMinute(week: LocalWeek, at: number): number {
  return week.beginOf(week.dayAt(at)) === at ? passLeadTime(week, at, -minuteMs) : at;
}

/** The money that people announced, and the forecast with it: top-ups in the order in which they come, as far as they come in time. */
function expectedOf(
  { expected, poll: { reading }, spending, settings }: WatchedAccount,
  { balance, emptyMicros, forecast: alone }: Pick<Runway, 'balance' | 'emptyMicros' | 'forecast'>,
  now: number,
): Runway['expected'] {
  const coming = expected
    .filter((topUp) => topUp.balance === balance && topUp.by >= now)
    .toSorted((one, other) => one.by - other.by);
  const [first, last] = [coming[0], coming.at(-1)];
  if (reading === null || first === undefined || last === undefined) return null;
  const left = amountOf(reading, balance) - emptyMicros;
  // No payment that is made now arrives sooner.
  const soonest = passLeadTime(spending.week, now, settings.leadTimeMs ?? dayMs);
  let inTimeMicros = 0;
  let forecast: Forecast | null = null;
  for (const topUp of coming) {
    const endsAt = left <= 0 ? now : ((forecast ?? alone)?.earliest ?? Number.POSITIVE_INFINITY);
    if (topUp.by > Math.max(endsAt, soonest)) break;
    inTimeMicros += missingOf(topUp);
    if (topUp.by <= endsAt && alone?.earliest != null)
      forecast = spending.forecastAt(reading, balance, left + inTimeMicros);
  }
  return { amountMicros: missingOf(...coming), by: last.by, comment: first.comment, inTimeMicros, forecast };
}

/** Whether a balance may be empty within a day by the forecast (`earliest`), or has an open alert. Used up without one, it is not polled more often. */
export function isNearEmpty(account: WatchedAccount, now: number): boolean {
  for (const alert of account.alerts.values())
    if (alert.state !== 'inactive' && alertKindOf(alert).emptinessRank !== undefined) return true;
  const { reading } = account.poll;
  if (reading === null) return false;
  return account.settings.balances.some(({ id: balance }) => {
    const left = amountOf(reading, balance) - emptyAt(account, balance);
    if (left < account.spending.leastSpendable(balance)) return false;
    const earliest = account.spending.forecastAt(reading, balance, left)?.earliest;
    return earliest != null && earliest < now + dayMs;
  });
}
