import { firstWhere } from '../domain/first-where.ts';
import type { Micros } from '../domain/money.ts';
import { ownOf } from '../domain/own.ts';
import type { Forecast } from '../domain/quantity.ts';
import {
  amountOf,
  type Balance,
  emptyLevel,
  hasBalances,
  isInCurrency,
  type Reading,
} from '../domain/reading.ts';
import { dayMs, hourMs } from '../domain/time.ts';
import { floorOf } from '../engine/state.ts';
import type { Calendar } from '../ports/clock.ts';
import { AccountSpending } from '../spending/account-spending.ts';
import { weekOf } from '../spending/local-week.ts';
import { ReadingLog } from '../spending/reading-log.ts';
import { predictRunout } from '../spending/runway.ts';
import { knownFalls } from '../spending/silence.ts';
import { type AccountPast, surveyPast, usualInterval } from './past.ts';

/** The prediction of a balance at a reading, from that reading and earlier ones alone. */
export interface PastForecast {
  readonly reading: Reading;
  readonly balance: Balance;
  /** The amount left above the floor. */
  readonly leftMicros: Micros;
  /** Null when nothing could be forecast. */
  readonly forecast: Forecast | null;
}

/** One for each reading and each balance that ever moves, oldest first, learned from that reading and all before it. */
export async function* forecastsOf(
  past: AccountPast,
  calendar: Calendar,
): AsyncGenerator<readonly PastForecast[]> {
  const surveyed = await surveyPast(past);
  if (surveyed === null) return;
  const pollIntervalMs = usualInterval(surveyed, calendar);
  const log = new ReadingLog({ windowMs: dayMs, pollIntervalMs });
  const { account, facts } = past;
  const settings = { ...account, floorMicros: floorOf({ settings: account, poll: { facts } }) };
  const week = weekOf(account);
  const spending = new AccountSpending(account.id, { ...settings, week, announced: [] });
  const moving = await movingBalances(past);
  const takeIn = (reading: Reading): void => {
    log.append(reading);
    spending.read(reading);
  };
  const isOwn = (reading: Reading): boolean => isInCurrency(account, reading);
  for await (const part of readingsBefore(past)) for (const reading of part.filter(isOwn)) takeIn(reading);
  for await (const part of past.polls()) {
    const predicted: PastForecast[] = [];
    for (const { reading } of part) {
      if (reading === null || !hasBalances(reading, account.balances) || !isOwn(reading)) continue;
      takeIn(reading);
      for (const balance of moving) {
        const floorMicros = emptyLevel(settings, balance);
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
      if (ownOf(reading.balances, balance) !== ownOf(first.balances, balance)) moving.add(balance);
  };
  for await (const part of readingsBefore(past)) for (const reading of part) look(reading);
  for await (const part of past.polls())
    for (const { reading } of part) {
      if (moving.size === balances.length) return balances;
      if (reading !== null) look(reading);
    }
  return balances.filter((balance) => moving.has(balance));
}

/** The horizons at which forecasts are compared with what came; each stands for times from `from` to `to` times as long. */
const horizonsMs = [24 * hourMs, 72 * hourMs, 168 * hourMs] as const;
const from = 0.8;
const to = 1.25;

/**
 * The quality of the forecasts of a balance, by how far ahead they were. `count`: those, one an hour, that came to be known as right or wrong. `medianError`:
 * the median of `|predicted − true| / true`. `held`: the share of outcomes within the interval that is to hold four times in five.
 * A balance is empty when as much was spent as was left: that is seen even if it was topped up in between.
 */
export function judgeForecasts(forecasts: readonly PastForecast[], balance: Balance) {
  const own = forecasts.filter((it) => it.balance === balance);
  const known = sumUp(own);
  const cases = own.flatMap((it, index) => {
    const emptyAt = trueEmptyAt(own, index, known);
    return emptyAt === null || !isFirstOfHour(own, index) ? [] : [{ ...it, emptyAt }];
  });
  return horizonsMs.flatMap((aheadMs) => {
    const near = cases.filter(({ reading, emptyAt }) => {
      const true_ = emptyAt - reading.at;
      return true_ >= from * aheadMs && true_ <= to * aheadMs;
    });
    if (near.length === 0) return [];
    const errors = near.map(({ reading, forecast, emptyAt }) =>
      forecast?.emptyAt == null
        ? Number.POSITIVE_INFINITY
        : Math.abs(forecast.emptyAt - emptyAt) / (emptyAt - reading.at),
    );
    const held = near.filter(({ forecast, emptyAt }) => holds(forecast, emptyAt)).length;
    return [{ balance, aheadMs, count: near.length, medianError: middle(errors), held: held / near.length }];
  });
}

/** The spending up to each forecast, and the smallest amount that was spent at once: a millionth if too few falls show it. */
function sumUp(own: readonly PastForecast[]) {
  const left = Float64Array.from(own, ({ leftMicros }) => leftMicros);
  const spent = new Float64Array(own.length);
  let smallestFall = Number.POSITIVE_INFINITY;
  let falls = 0;
  for (let index = 1; index < own.length; index++) {
    const fell = Math.max(0, (left[index - 1] ?? 0) - (left[index] ?? 0));
    spent[index] = (spent[index - 1] ?? 0) + fell;
    if (fell === 0) continue;
    falls += 1;
    smallestFall = Math.min(smallestFall, fell);
  }
  return { left, spent, smallestFall: falls < knownFalls ? 1 : smallestFall };
}

/**
 * When a balance was empty: at the reading that left less than the smallest fall, because less than that is never spent. If it was
 * topped up before, when as much was spent as had been left, interpolated between two readings. Null while neither is known.
 */
function trueEmptyAt(
  own: readonly PastForecast[],
  index: number,
  { left, spent, smallestFall }: ReturnType<typeof sumUp>,
): number | null {
  const before = left[index] ?? 0;
  if (before < smallestFall) return null;
  const goal = (spent[index] ?? 0) + before;
  const lastServed = firstAbove(spent, index, goal - smallestFall);
  if ((left[lastServed] ?? smallestFall) < smallestFall) return own[lastServed]?.reading.at ?? null;
  if ((spent[own.length - 1] ?? 0) < goal) return null;
  const high = firstAbove(spent, index, goal - 1);
  const low = high - 1;
  const spentLow = spent[low] ?? 0;
  const share = (goal - spentLow) / Math.max(1, (spent[high] ?? 0) - spentLow);
  const lowAt = own[low]?.reading.at ?? 0;
  return lowAt + share * ((own[high]?.reading.at ?? 0) - lowAt);
}

/** The first index after `after` at which more than an amount was spent; the length if there is none. */
function firstAbove(spent: Float64Array, after: number, amount: Micros): number {
  return firstWhere(after + 1, spent.length, (place) => (spent[place] ?? 0) > amount);
}

function isFirstOfHour(own: readonly PastForecast[], index: number): boolean {
  const hour = (place: number): number => Math.floor((own[place]?.reading.at ?? 0) / hourMs);
  return index === 0 || hour(index) !== hour(index - 1);
}

function holds(forecast: PastForecast['forecast'], emptyAt: number): boolean {
  if (forecast?.earliest == null || forecast.earliest > emptyAt) return false;
  return forecast.latest === null || emptyAt <= forecast.latest;
}

function middle(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[values.length >> 1] ?? Number.NaN;
}
