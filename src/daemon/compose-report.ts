import type { Message, ReportAccount, ReportMessage } from '../domain/message.ts';
import { currencyCode, isSameCurrency, type Micros } from '../domain/money.ts';
import { sumUp } from '../domain/one-sum.ts';
import type { Notification } from '../domain/outbox.ts';
import { ownOf } from '../domain/own.ts';
import { type Balance, type Reading, unitOf } from '../domain/reading.ts';
import { dayMs, isoDay } from '../domain/time.ts';
import { byUrgency, mostUrgent, type Urgency } from '../domain/urgency.ts';
import { groupByRun } from '../engine/pay-runs.ts';
import { paymentsOf } from '../engine/payments.ts';
import { pollGap } from '../engine/poll-gaps.ts';
import { moneyOf } from '../engine/rates.ts';
import { damageEnd } from '../engine/self-alerts.ts';
import { runwayOf } from '../engine/spending.ts';
import type { MonitorState, WatchedAccount } from '../engine/state.ts';
import { monthlyBudget } from '../rules/budget.ts';
import { usuallyStaleAfter } from '../rules/stale.ts';
import { minTopUpMicros } from '../rules/top-up.ts';
import { urgencyOfBalance } from '../rules/urgency.ts';
import { changesOf, readingsOfChanges } from '../spending/changes.ts';
import { addBudgets, addOutlooks, outlookOf } from '../spending/outlook.ts';
import { thin } from '../spending/thin.ts';
import { type ComposeDependencies, frameOf } from './compose.ts';
import { collect } from './history-loader.ts';

const chartPoints = 200;

/** Balance, spending, top-ups, runway and incidents of every account over a period, the most urgent first. */
export async function composeReport(
  dependencies: ComposeDependencies,
  message: Notification,
  { id: reportId, since, until }: NonNullable<Notification['report']>,
): Promise<Message> {
  const { state } = dependencies;
  const accounts: ReportAccount[] = [];
  for (const account of [...state.accounts.values()])
    accounts.push(await reportAccount(dependencies, account, since, until));
  const now = dependencies.now();
  const settings = state.settings.reports.find(({ id }) => id === reportId);
  return {
    ...frameOf(state, message, now),
    // The report's days are those of its own time zone.
    ...(settings === undefined ? {} : { timezone: settings.timezone }),
    ...(settings?.language == null ? {} : { language: settings.language }),
    kind: 'report',
    reportId,
    since,
    until,
    nextAt: settings === undefined ? null : state.calendar.next(settings.cron, settings.timezone, now),
    ...sumReport(state, accounts, now),
    accounts: accounts.sort((left, right) =>
      byUrgency(urgencyOfReported(left, now), urgencyOfReported(right, now)),
    ),
  };
}

async function reportAccount(
  { reader, historyLoader, now, state }: ComposeDependencies,
  account: WatchedAccount,
  since: number,
  until: number,
): Promise<ReportAccount> {
  const { settings } = account;
  await historyLoader.of(account);
  const span = readingsOfChanges({ account: settings.id, since, until });
  const before = await reader.readingBefore(settings.id, span.since);
  const { poll } = account;
  const all = await collect(reader.readings({ ...span, timesOnce: true }));
  const within = all.filter(({ at }) => at >= poll.seriesSince);
  const incidents = await reader.incidents({ account: settings.id, since, until });
  const readings = before === null || before.at < poll.seriesSince ? within : [before, ...within];
  // Spending in another currency must not be added to spending in the present one.
  const currency = poll.reading?.currency ?? null;
  const own = readings.find((reading) => isSameCurrency(reading.currency, currency ?? ''));
  // A late report may be about a time before the first reading.
  const first = own ?? poll.reading;
  const watchedSince = first?.at ?? since;
  const knownSince = Math.max(watchedSince, damageEnd(state, settings.id, { since, until }));
  const last = readings.at(-1);
  const { balances } = settings;
  const flows = new Map(balances.map(({ id }) => [id, measureFlow(readings, id, currency)]));
  const ofEach = <T>(
    value: (balance: Balance, flow: ReturnType<typeof measureFlow>) => T,
  ): Record<Balance, T> =>
    Object.fromEntries([...flows].map(([balance, flow]) => [balance, value(balance, flow)]));
  return {
    id: settings.id,
    name: settings.name,
    balances,
    reading: poll.reading,
    runways: ofEach((balance) => runwayOf(account, balance, now())),
    records: ofEach((balance) => account.spending.record(balance)),
    payments: paymentsOf(state, account, now()),
    spent: ofEach((_, { spent }) => spent),
    ...(knownSince <= since ? {} : { spentSince: knownSince }),
    ...(knownSince <= watchedSince ? {} : { watchedSince }),
    ...(last === undefined || until - last.at <= stillKnownMs(state, account, last)
      ? {}
      : { spentUntil: last.at }),
    toppedUp: ofEach((_, { toppedUp }) => toppedUp),
    topUps: [...flows.values()].flatMap(({ topUps }) => topUps).sort((left, right) => left.at - right.at),
    incidents,
    history: thin(within, chartPoints),
  };
}

/** For how long a reading counts as the latest: the time in which three polls are due after it. */
function stillKnownMs(
  { calendar }: MonitorState,
  { settings, poll }: WatchedAccount,
  reading: Reading,
): number {
  return usuallyStaleAfter(
    pollGap(calendar, settings.poll, { reading, firstSeenAt: poll.firstSeenAt, unwatchedMs: 0 }),
  );
}

function measureFlow(readings: readonly Reading[], balance: Balance, currency: string | null) {
  const topUps: { at: number; balance: Balance; micros: number }[] = [];
  const flow = { spent: 0, toppedUp: 0, topUps };
  for (const { to, change } of changesOf(readings, balance, { currency })) {
    if (change < 0) flow.spent -= change;
    else flow.toppedUp += change;
    if (change >= minTopUpMicros) topUps.push({ at: to, balance, micros: change });
  }
  return flow;
}

/** Accounts without a forecast come after those that run out. */
function urgencyOfReported(account: ReportAccount, now: number): Urgency {
  return mostUrgent(Object.values(account.runways).flatMap((runway) => urgencyOfBalance(runway, now) ?? []));
}

/** The sums of a report over all accounts: the total, the forecast for the month, and what the next pay runs need. */
function sumReport(
  state: MonitorState,
  accounts: readonly ReportAccount[],
  now: number,
): Pick<ReportMessage, 'inOne' | 'months' | 'payRuns'> {
  const read = accounts.flatMap((account) => {
    const { reading, balances } = account;
    if (reading === null) return [];
    return balances.map(({ id }) => ({
      account,
      id,
      currency: unitOf({ balances, currency: reading.currency }, id),
    }));
  });
  const money = moneyOf(state);
  const inOne = (of: (account: ReportAccount, balance: Balance) => Micros | undefined) => {
    const amounts = read.map(({ account, id, currency }) => ({ currency, micros: of(account, id) ?? 0 }));
    return money === null || amounts.length === 0 ? null : sumUp(amounts, money);
  };
  const left = inOne(({ reading }, id) => ownOf(reading?.balances, id));
  const spent = inOne(({ spent: own }, id) => ownOf(own, id));
  const outlooks = read.flatMap(({ account: { id: account, balances }, id }) => {
    const watched = state.accounts.get(account);
    const outlook = watched && outlookOf(watched.spending, id, now);
    if (!watched || !outlook) return [];
    const currency = unitOf({ balances, currency: outlook.currency }, id);
    return { ...outlook, currency, budget: monthlyBudget(watched, id, outlook.month.spent) };
  });
  const payments = accounts.flatMap(({ payments: own, balances, reading }) =>
    own.map(({ micros, runAt, balance }) => ({
      micros,
      runAt,
      currency: unitOf({ balances, currency: reading?.currency ?? '' }, balance),
    })),
  );
  // In time zones ahead, another month may have begun already.
  const monthly = Map.groupBy(
    outlooks,
    ({ currency, month }) =>
      `${currencyCode(currency)} ${isoDay(month.startsAt + 15 * dayMs, 'UTC').slice(0, 7)}`,
  );
  return {
    inOne: left && spent && { left, spent },
    months: [...monthly.values()].map((own) => ({
      ...addOutlooks(own),
      currency: own[0]?.currency ?? '',
      startsAt: own[0]?.month.startsAt ?? now,
      budget: addBudgets(own),
    })),
    payRuns: groupByRun(payments, money).map(({ payments: { length: count }, ...run }) => ({
      ...run,
      count,
    })),
  };
}
