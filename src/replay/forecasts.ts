import { dayMs } from '../domain/duration.ts';
import type { Micros } from '../domain/money.ts';
import type { Forecast } from '../domain/quantity.ts';
import { amountOf, type Balance, hasBalances, type Reading } from '../domain/reading.ts';
import type { Calendar } from '../ports/clock.ts';
import { AccountSpending } from '../spending/account-spending.ts';
import { LocalWeek } from '../spending/local-week.ts';
import { ReadingLog } from '../spending/reading-log.ts';
import { predictRunout } from '../spending/runway.ts';
import { type AccountPast, surveyPast, usualInterval } from './past.ts';

/** What was predicted of a balance at a reading, from that reading and earlier ones alone. */
export interface PastForecast {
  readonly reading: Reading;
  readonly balance: Balance;
  /** What is left above the floor. */
  readonly leftMicros: Micros;
  /** Null where nothing could be told. */
  readonly forecast: Forecast | null;
}

/**
 * What the past of an account would have been predicted: one for each reading and balance that ever moves, oldest
 * first, many at a time. All that is known from before is learnt from.
 */
export async function* forecastsOf(
  past: AccountPast,
  calendar: Calendar,
): AsyncGenerator<readonly PastForecast[]> {
  const surveyed = await surveyPast(past);
  if (surveyed === null) return;
  const pollIntervalMs = usualInterval(surveyed, calendar);
  const log = new ReadingLog({ windowMs: dayMs, pollIntervalMs });
  const { account } = past;
  const floorMicros = -(account.creditLimitMicros ?? 0);
  const week = new LocalWeek({ calendar, ...account });
  const spending = new AccountSpending({ account: account.id, week, floorMicros });
  const moving = await movingBalances(past);
  for await (const part of readingsBefore(past)) {
    for (const reading of part) {
      log.append(reading);
      spending.read(reading);
    }
  }
  for await (const part of past.polls()) {
    const predicted: PastForecast[] = [];
    for (const { reading } of part) {
      if (reading === null || !hasBalances(reading, account.balances)) continue;
      log.append(reading);
      spending.read(reading);
      for (const balance of moving) {
        const forecast = predictRunout({ log, spending, reading, balance, floorMicros });
        predicted.push({ reading, balance, leftMicros: amountOf(reading, balance) - floorMicros, forecast });
      }
    }
    yield predicted;
  }
}

function readingsBefore({ account, before }: AccountPast): AsyncIterable<readonly Reading[]> {
  return before.readings({
    account: account.id,
    since: Number.MIN_SAFE_INTEGER,
    until: Number.MAX_SAFE_INTEGER,
  });
}

async function movingBalances(past: AccountPast): Promise<readonly Balance[]> {
  const balances = past.account.balances.map(({ id }) => id);
  let first: Reading | null = null;
  const moving = new Set<Balance>();
  const look = (reading: Reading): void => {
    first ??= reading;
    for (const balance of balances)
      if (reading.balances[balance] !== first.balances[balance]) moving.add(balance);
  };
  for await (const part of readingsBefore(past)) for (const reading of part) look(reading);
  for await (const part of past.polls())
    for (const { reading } of part) {
      if (moving.size === balances.length) return balances;
      if (reading !== null) look(reading);
    }
  return balances.filter((balance) => moving.has(balance));
}
