import type { Forecast } from '../domain/forecast.ts';
import type { Micros } from '../domain/money.ts';
import type { Calendar } from '../domain/ports.ts';
import { type Balance, balances, type Reading } from '../domain/reading.ts';
import { AccountSpending } from '../spending/account-spending.ts';
import { dayMs } from '../spending/burn.ts';
import { foresee } from '../spending/foresee.ts';
import { LocalWeek } from '../spending/local-week.ts';
import { createReadingLog } from '../spending/reading-log.ts';
import { type AccountPast, surveyPast, usualInterval } from './past.ts';

/** What was foretold of a balance at a reading, from that reading and earlier ones alone. */
export interface PastForecast {
  readonly reading: Reading;
  readonly balance: Balance;
  /** What is left above the floor. */
  readonly leftMicros: Micros;
  /** Null where nothing could be told. */
  readonly forecast: Forecast | null;
}

/**
 * What the past of an account would have been foretold like: one for each reading and balance that ever moves, oldest
 * first. All that is known from before is learnt from.
 */
export function* forecastsOf(past: AccountPast, calendar: Calendar): Generator<PastForecast> {
  const surveyed = surveyPast(past);
  if (surveyed === null) return;
  const pollIntervalMs = usualInterval(surveyed, calendar);
  const log = createReadingLog({ windowMs: dayMs, pollIntervalMs });
  const { account } = past;
  const floorMicros = -account.creditLimitMicros;
  const week = new LocalWeek({ calendar, ...account });
  const spending = new AccountSpending({ account: account.id, week, floorMicros });
  const moving = balances.filter((balance) => moves(past, balance));
  for (const reading of readingsBefore(past)) {
    log.append(reading);
    spending.read(reading);
  }
  for (const { reading } of past.polls()) {
    if (reading === null) continue;
    log.append(reading);
    spending.read(reading);
    for (const balance of moving) {
      const forecast = foresee({ log, spending, reading, balance, floorMicros });
      yield { reading, balance, leftMicros: reading[balance] - floorMicros, forecast };
    }
  }
}

function readingsBefore({ account, before }: AccountPast): Iterable<Reading> {
  return before.readings({
    account: account.id,
    since: Number.MIN_SAFE_INTEGER,
    until: Number.MAX_SAFE_INTEGER,
  });
}

function moves(past: AccountPast, balance: Balance): boolean {
  let first: number | null = null;
  for (const reading of readingsBefore(past)) {
    first ??= reading[balance];
    if (reading[balance] !== first) return true;
  }
  for (const { reading } of past.polls()) {
    if (reading === null) continue;
    first ??= reading[balance];
    if (reading[balance] !== first) return true;
  }
  return false;
}
