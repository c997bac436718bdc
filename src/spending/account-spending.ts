import { isSameCurrency, type Micros } from '../domain/money.ts';
import type { ExpectedSpending, Forecast, ForecastRecord } from '../domain/quantity.ts';
import { amountOf, type Balance, hasSameBalances, type Reading } from '../domain/reading.ts';
import { dayMs, hourMs } from '../domain/time.ts';
import { BalanceSpending, type SpendingSettings } from './balance-spending.ts';
import { BalanceState, readSpending, writeSpending } from './balance-state.ts';
import { type ExpectedRun, plannedRuns } from './expected-runs.ts';
import { expectedFrom, lastsLonger, neededFrom, predict } from './forecast.ts';
import { beginInterval, forecastRecord, lookWeekBack, spreadAhead, type WeekAgo } from './interval.ts';
import { hoursPerWeek, type LocalHour, type LocalWeek } from './local-week.ts';
import { addToSums, beginSums, type Period, type PeriodSum, type PeriodSums } from './periods.ts';
import { type UsualSpending, usualSpending, usualSpendings } from './profile.ts';
import { leastServed, servedFrom, unspendable } from './silence.ts';
import { rememberTopUp } from './top-ups.ts';

/**
 * Only the end of a longer gap between two readings is walked, hour by hour: a clock that was wrong makes gaps of thousands of years,
 * and older hours add nothing to what is known at the end.
 */
const maxWalkMs = 35 * dayMs;

/**
 * Knowledge of the spending of one account: an O(1) update a reading, a bounded one an ended hour. The same readings always make the same state.
 *
 * Falls are spending. A fall across a gap is spread over its hours as they usually take. Times in which a balance rose, or passed empty without
 * a fall, are not seen: what is not served is no lack of demand. A reading in another currency or of other balances starts anew; one that is
 * older than its predecessor (the clock was set back) only goes on from there.
 */
export class AccountSpending {
  readonly account: string;
  #settings: SpendingSettings;
  #last: Reading | null = null;
  #hour: LocalHour | null = null;
  #sums: PeriodSums | null = null;
  /** The balances that ever fell. */
  #known = new Map<Balance, BalanceSpending>();

  constructor(account: string, settings: SpendingSettings) {
    this.account = account;
    this.#settings = settings;
  }

  get week(): LocalWeek {
    return this.#settings.week;
  }

  get floorMicros(): Micros {
    return this.#settings.floorMicros;
  }

  /** Goes on with other holidays or another floor. False for another time zone, which has to be learned from history. */
  adopt(settings: SpendingSettings): boolean {
    if (settings.week.key !== this.week.key) return false;
    for (const known of this.#known.values()) known.adopt(settings);
    this.#settings = settings;
    return true;
  }

  /** The newest reading that was taken in. */
  get last(): Reading | null {
    return this.#last;
  }

  /** Knowledge of one balance; null while it never fell. */
  state(balance: Balance): BalanceState | null {
    return this.#known.get(balance)?.state ?? null;
  }

  /** The spending since the present day, week or month of the account's calendar began; null before the first reading. */
  since(period: Period): PeriodSum | null {
    return this.#sums?.[period] ?? null;
  }

  /** Takes in the newest reading. True when an hour ended with it. */
  read(reading: Reading): boolean {
    const last = this.#last;
    this.#last = reading;
    const goesOn = last !== null && isComparable(last, reading);
    if (goesOn && this.#sums !== null) addToSums(this.#sums, { week: this.week, last, reading });
    else this.#sums = beginSums(this.week, reading);
    if (!goesOn) this.#known.clear();
    if (!goesOn || reading.at <= last.at || this.#hour === null) {
      this.#hour = this.week.hourAt(reading.at);
      return false;
    }
    for (const [balance, { state }] of this.#known) {
      const from = amountOf(last, balance);
      rememberTopUp(state, { rise: amountOf(reading, balance) - from, from });
    }
    const ended = reading.at >= this.#hour.endsAt;
    const start = this.#walkFrom(last.at, reading.at);
    this.#weighHours(start, reading.at);
    for (let from = start; from < reading.at; ) {
      const hour: LocalHour = this.#hour;
      const to = Math.min(reading.at, hour.endsAt);
      const part = { last, reading, from, to, hour };
      for (const balance in reading.balances)
        (this.#known.get(balance) ?? this.#firstFall(balance, part))?.spend(part);
      if (to === hour.endsAt) this.#endHour(hour, reading.at);
      from = to;
    }
    return ended;
  }

  /** More than an hour between two readings is shared out among its hours in the proportion that they usually take. */
  #weighHours(from: number, to: number): void {
    const hours = to - from > hourMs ? this.week.hoursBetween(from, to) : [];
    for (const known of this.#known.values()) known.weighHours(hours);
  }

  /** The last reading's instant, or a later one near enough to walk from; the present hour begins again there. */
  #walkFrom(lastAt: number, at: number): number {
    if (at - lastAt <= maxWalkMs) return lastAt;
    this.#hour = this.week.hourAt(at - maxWalkMs);
    for (const known of this.#known.values()) known.beginHour();
    return at - maxWalkMs;
  }

  /** Whether falls have been known for a day, even if none came. */
  get isKnownForADay(): boolean {
    const knownSince = Object.values(this.#sums ?? {}).map((sum) => sum.knownSince);
    return this.#last !== null && this.#last.at - Math.min(...knownSince) >= dayMs;
  }

  /** The price of a message, as far as it is known: with less left a balance is used up. */
  leastSpendable(balance: Balance): Micros {
    const state = this.state(balance);
    return state === null ? 1 : Math.max(1, unspendable(state));
  }

  /** The amount from which on a balance that stands still, with `left` now, counts as lasting without end. */
  servedFrom(balance: Balance, left: Micros): Micros {
    const state = this.state(balance);
    return state === null ? 1 : servedFrom(state, left);
  }

  /** How long a balance lasts if nothing is spent of it: nearly empty, as long as at the mean hour; else without end. */
  lastsAtRest(balance: Balance, left: Micros): number {
    const state = this.state(balance);
    if (state === null || left >= Math.max(1, leastServed(state))) return Number.POSITIVE_INFINITY;
    return left < this.leastSpendable(balance) ? 0 : Math.floor((left * hourMs) / state.meanHour);
  }

  /** When `left` of a balance, counted from the newest reading, is spent; null while less than a day is known. */
  forecast(balance: Balance, left: Micros): Forecast | null {
    const present = this.#present(balance);
    if (present === null) return null;
    const { state, walk, at } = present;
    const basis = state.hours < hoursPerWeek ? 'hour-of-day' : 'hour-of-week';
    return { ...predict(state, walk, { left, at }), basis };
  }

  /** Whether this is the newest reading that was learned: false while the spending is learned from history. */
  knows(reading: Reading | null): boolean {
    return this.#last?.at === reading?.at;
  }

  /** `forecast`; null also when `reading` is not known. */
  forecastAt(reading: Reading, balance: Balance, left: Micros): Forecast | null {
    return this.knows(reading) ? this.forecast(balance, left) : null;
  }

  /** The coming spending of a balance within a time from the newest reading on; null while less than a day is known. */
  expected(balance: Balance, withinMs: number): Micros | null {
    const present = this.#present(balance);
    return present && expectedFrom(present.walk, present.at, withinMs);
  }

  /** The least amount that lasts this long from the newest reading on; null while less than a day is known. */
  needed(balance: Balance, forMs: number): Micros | null {
    const present = this.#present(balance);
    return present && neededFrom(present.state, present.walk, present.at, forMs);
  }

  /** The coming spending from the newest reading until an instant: the median and the 80 % range; null while less than a day is known. */
  expectedUntil(balance: Balance, until: number): ExpectedSpending | null {
    const present = this.#present(balance);
    if (present === null) return null;
    const { state, walk, at } = present;
    const micros = expectedFrom(walk, at, Math.max(0, until - at));
    const factor = Math.exp(spreadAhead(state, (until - at) / hourMs));
    return {
      micros: Math.round(micros),
      low: Math.round(micros / factor),
      high: Math.round(micros * factor),
    };
  }

  /** Whether `left` lasts longer than `forMs` by the forecast; null when `forecastAt` gives null. */
  lastsLonger(
    reading: Reading,
    balance: Balance,
    { left, forMs }: { left: Micros; forMs: number },
  ): boolean | null {
    const present = this.#present(balance);
    if (present?.at !== reading.at) return null;
    return lastsLonger(present.state, present.walk, { left, at: present.at, forMs });
  }

  /** The forecast of a week ago compared with what came; null when that is unknown. */
  weekAgo(balance: Balance): WeekAgo | null {
    const state = this.state(balance);
    return state === null || this.#hour === null ? null : lookWeekBack(state, this.#hour.startsAt);
  }

  /** The usual spending in the hour of the newest reading, in a week, and in its busiest hour; null while the balance never fell. */
  usual(balance: Balance): UsualSpending | null {
    const state = this.state(balance);
    return state === null || this.#hour === null ? null : usualSpendings(state, this.#hour.slot);
  }

  /** The usual spending of a balance from one instant to another. */
  usualBetween(balance: Balance, from: number, to: number): Micros {
    const state = this.state(balance);
    let usual = 0;
    if (state !== null)
      for (const { slot, startsAt, endsAt } of this.week.hoursBetween(from, to))
        usual += (usualSpending(state, slot) * (endsAt - startsAt)) / hourMs;
    return usual;
  }

  /** Days that are expected to take more than their weekday: of the month, every week or every two weeks. */
  runs(balance: Balance): readonly ExpectedRun[] {
    const known = this.#known.get(balance);
    return known === undefined || this.#hour === null ? [] : known.runsFrom(this.#hour.startsAt);
  }

  /** When runs are expected to begin within a month after the newest reading, and what each takes. */
  comingRuns(balance: Balance): readonly { readonly at: number; readonly micros: Micros }[] {
    const at = this.#last?.at ?? 0;
    const announced = this.#settings.announced.filter((run) => run.balance === balance);
    const runs = [
      ...plannedRuns(this.runs(balance), this.week, { now: at, days: 31, announced }),
      ...announced.map(({ startsAt, amountMicros }) => ({ at: startsAt, micros: amountMicros })),
    ];
    return runs.filter((run) => run.at > at).map((run) => ({ at: run.at, micros: run.micros }));
  }

  /** The record of three-day forecasts that came due in the last two weeks; null when none did. */
  record(balance: Balance): ForecastRecord | null {
    const state = this.state(balance);
    return state && forecastRecord(state, 72);
  }

  /** The whole state, about 3.4 KB for each balance that ever fell; null before the first reading. */
  bytes(): Uint8Array | null {
    if (this.#last === null || this.#sums === null) return null;
    const states = Object.keys(this.#last.balances).map((balance) => this.state(balance));
    return writeSpending({ timezone: this.week.key, last: this.#last, sums: this.#sums, states });
  }

  /** Goes on from what `bytes` gave. False if that is of another version or time zone: nothing changes then. */
  restore(bytes: Uint8Array): boolean {
    const found = readSpending(bytes);
    if (found === null || found.timezone !== this.week.key) return false;
    this.#last = found.last;
    this.#hour = this.week.hourAt(found.last.at);
    this.#sums = found.sums;
    this.#known.clear();
    for (const [index, balance] of Object.keys(found.last.balances).entries()) {
      const state = found.states[index];
      if (state) this.#known.set(balance, new BalanceSpending(balance, state, this.#settings));
    }
    return true;
  }

  /** The walk from the present hour on, and the instant of the newest reading; null while less than a day is known. */
  #present(balance: Balance) {
    const known = this.#known.get(balance);
    if (known === undefined || this.#hour === null || this.#last === null) return null;
    const { at } = this.#last;
    const walk = known.walkFrom(this.#hour.startsAt, at);
    return walk && { state: known.state, walk, at };
  }

  #firstFall(
    balance: Balance,
    { last, reading }: Record<'last' | 'reading', Reading>,
  ): BalanceSpending | null {
    if (amountOf(reading, balance) >= amountOf(last, balance)) return null;
    const known = new BalanceSpending(balance, new BalanceState(), this.#settings);
    beginInterval(known.state);
    this.#known.set(balance, known);
    return known;
  }

  #endHour(hour: LocalHour, readAt: number): void {
    const next = this.week.hourAt(hour.endsAt);
    this.#hour = next;
    const day = this.week.dayAt(hour.startsAt);
    const ended = { ...hour, day, isLast: this.week.dayAt(next.startsAt) !== day };
    for (const known of this.#known.values()) known.endHour(ended, { startsAt: next.startsAt, readAt });
  }
}

/** Whether a reading can be compared with the one before: not in another currency, nor with other balances. */
function isComparable(last: Reading, reading: Reading): boolean {
  return isSameCurrency(last.currency, reading.currency) && hasSameBalances(last, reading);
}
