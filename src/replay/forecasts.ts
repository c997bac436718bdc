import type { Forecast } from '../domain/forecast.ts';
import type { Micros } from '../domain/money.ts';
import type { Calendar } from '../domain/ports.ts';
import { type Balance, balances, type Reading } from '../domain/reading.ts';
import { AccountSpending } from '../spending/account-spending.ts';
import { dayMs } from '../spending/burn.ts';
import { foresee } from '../spending/foresee.ts';
import { LocalWeek } from '../spending/local-week.ts';
import { createReadingLog } from '../spending/reading-log.ts';
import type { AccountHistory } from './history-replay.ts';
import { usualInterval } from './poll-pauses.ts';

/** What was foretold of a balance at a reading, from that reading and earlier ones alone. */
export interface PastForecast {
  readonly reading: Reading;
  readonly balance: Balance;
  /** What is left above the floor. */
  readonly leftMicros: Micros;
  /** Null where nothing could be told. */
  readonly forecast: Forecast | null;
}

/** What the past of an account would have been foretold like: one for each reading and balance that ever moves, oldest first. */
export function* forecastsOf(
  history: AccountHistory,
  frame: { readonly calendar: Calendar; readonly timezone: string },
): Generator<PastForecast> {
  const { calendar, timezone } = frame;
  const log = createReadingLog({ windowMs: dayMs, pollIntervalMs: usualInterval(history, calendar) });
  const week = new LocalWeek({ calendar, timezone, holidays: [] });
  const spending = new AccountSpending({ week, floorMicros: 0 });
  const moving = balances.filter((balance) => moves(history, balance));
  for (const reading of history.before) {
    log.append(reading);
    spending.read(reading);
  }
  for (const { reading } of history.polls) {
    if (reading === null) continue;
    log.append(reading);
    spending.read(reading);
    for (const balance of moving) {
      const forecast = foresee({ log, spending, reading, balance, floorMicros: 0 });
      yield { reading, balance, leftMicros: reading[balance], forecast };
    }
  }
}

function moves({ before, polls }: AccountHistory, balance: Balance): boolean {
  let first: number | null = null;
  for (const reading of [...before, ...polls.flatMap((poll) => poll.reading ?? [])]) {
    first ??= reading[balance];
    if (reading[balance] !== first) return true;
  }
  return false;
}
