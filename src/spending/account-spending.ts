import { dayMs, hourMs } from '../domain/duration.ts';
import { isSameCurrency, type Micros } from '../domain/money.ts';
import type { AnnouncedRun } from '../domain/operator.ts';
import { ownOf } from '../domain/own.ts';
import type { ExpectedSpending, Forecast, ForecastRecord } from '../domain/quantity.ts';
import { amountOf, type Balance, hasSameBalances, type Reading } from '../domain/reading.ts';
import { announcedBetween, mostOf, restOf } from './announced.ts';
import { BalanceState, readSpending, writeSpending } from './balance-state.ts';
import { type ExpectedRun, expectedRuns, plannedIn, plannedRuns } from './expected-runs.ts';
import { expectedFrom, lastsLonger, predict, sumAt, type Walk, walkAhead } from './forecast.ts';
import {
  beginInterval,
  forecastRecord,
  lookWeekBack,
  mapRange,
  passHour,
  spreadAhead,
  type WeekAgo,
} from './interval.ts';
import { isSeen, learnHour } from './learn-hour.ts';
import { farthestHours, hoursPerWeek, type LocalHour, type LocalWeek } from './local-week.ts';
import {
  addToSums,
  beginSums,
  endOfNextMonth,
  type Period,
  type PeriodSum,
  type PeriodSums,
  presentSums,
} from './periods.ts';
import { type UsualSpending, usualSpendings } from './profile.ts';
import { noteFall } from './silence.ts';
import { rememberTopUp } from './top-ups.ts';
import { forgetUnusual, type Usual, usualRange, watchUnusual } from './unusual.ts';

/** No forecast by hours before a day was learned. */
const hoursForForecast = 24;
/** Within so much of a mean hour above the floor an account may have stopped serving: its silence is no lack of demand. */
const nearlyEmpty = 0.5;
/**
 * Only the end of a longer gap between two readings is walked, hour by hour: a clock that was wrong makes gaps of thousands of years,
 * and what lies farther back adds nothing to what is known then.
 */
const maxWalkMs = 35 * dayMs;

/** One balance that ever fell, with what is made from its state for the present hour. */
interface Known {
  readonly state: BalanceState;
  /** Made at the first hour of each day. */
  runs: readonly ExpectedRun[] | null;
  walk: Walk | null;
  usual: Usual | null;
  /** The spending of announced runs since `#announced` said how much that is. */
  ofRuns: Micros;
}

/** The spending of a period so far, and at its end: null while less than a day is known. */
export interface PeriodOutlook extends Omit<PeriodSum, 'spent' | 'watchedFrom'> {
  readonly spent: Micros;
  readonly total: ExpectedSpending | null;
}

export type SpendingOutlook = NonNullable<ReturnType<AccountSpending['outlook']>>;

interface Frame {
  readonly week: LocalWeek;
  readonly floorMicros: Micros;
  /** Runs beyond the usual that people announced. */
  readonly announced?: readonly AnnouncedRun[];
}

/**
 * Knowledge of the spending of one account: an O(1) update a reading, a bounded one for each hour that ended. The same readings always make the same state.
 *
 * Falls are spending. A fall across a gap is spread over the gap's time. Not seen are times in which a balance rose, and times that
 * pass empty without a fall: what is not served is no lack of demand. A reading in another currency or of other balances starts afresh; one that is older than
 * its predecessor (the clock was set back) only goes on from there.
 */
export class AccountSpending {
  readonly account: string;
  /** Changed by `adopt` alone. */
  week: LocalWeek;
  #floorMicros: Micros;
  #announced: readonly AnnouncedRun[];
  #last: Reading | null = null;
  #hour: LocalHour | null = null;
  #sums: PeriodSums | null = null;
  /** The balances that ever fell. */
  #known = new Map<Balance, Known>();

  /** `floorMicros` is what counts as empty. */
  constructor(parts: Frame & { readonly account: string }) {
    this.account = parts.account;
    this.week = parts.week;
    this.#floorMicros = parts.floorMicros;
    this.#announced = parts.announced ?? [];
  }

  /** Goes on under other holidays or another floor. False for another time zone, which has to be learned from history. */
  adopt({ week, floorMicros, announced = this.#announced }: Frame): boolean {
    if (week.key !== this.week.key) return false;
    if (announced !== this.#announced)
      for (const known of this.#known.values()) {
        known.walk = null;
        known.ofRuns = 0;
      }
    this.#announced = announced;
    this.week = week;
    this.#floorMicros = floorMicros;
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
    for (let from = this.#walkFrom(last.at, reading.at); from < reading.at; ) {
      const hour: LocalHour = this.#hour;
      const to = Math.min(reading.at, hour.endsAt);
      const part = { last, reading, from, to, hour };
      for (const balance in reading.balances) this.#spend(balance, part);
      if (to === hour.endsAt) this.#endHour(hour);
      from = to;
    }
    return ended;
  }

  /** The last reading's instant, or one that is near enough, where the present hour then begins again. */
  #walkFrom(lastAt: number, at: number): number {
    if (at - lastAt <= maxWalkMs) return lastAt;
    this.#hour = this.week.hourAt(at - maxWalkMs);
    for (const { state } of this.#known.values()) {
      state.spent = 0;
      state.seenMs = 0;
    }
    return at - maxWalkMs;
  }

  /** When so much of a balance, as it was at the newest reading, is spent; null while less than a day is known. */
  forecast(balance: Balance, left: Micros): Forecast | null {
    const known = this.#known.get(balance);
    const walk = this.#present(known);
    if (known === undefined || walk === null || this.#last === null) return null;
    const span = predict(known.state, walk, { left, at: this.#last.at });
    return { ...span, basis: known.state.hours < hoursPerWeek ? 'hour-of-day' : 'hour-of-week' };
  }

  /** `forecast`, and null too where `reading` is not the newest that was learned from, as while it is learned from history. */
  forecastAt(reading: Reading, balance: Balance, left: Micros): Forecast | null {
    return this.#last?.at === reading.at ? this.forecast(balance, left) : null;
  }

  /** The coming spending of a balance within so long from the newest reading on; null while less than a day is known. */
  expected(balance: Balance, withinMs: number): Micros | null {
    const walk = this.#present(this.#known.get(balance));
    return walk === null || this.#last === null ? null : expectedFrom(walk, this.#last.at, withinMs);
  }

  /** The coming spending from the newest reading until an instant: the median and the 80 % range; null while less than a day is known. */
  expectedUntil(balance: Balance, until: number): ExpectedSpending | null {
    const known = this.#known.get(balance);
    const at = this.#last?.at ?? until;
    const micros = this.expected(balance, Math.max(0, until - at));
    if (known === undefined || micros === null) return null;
    const factor = Math.exp(spreadAhead(known.state, (until - at) / hourMs));
    return mapRange({ micros, low: micros / factor, high: micros * factor }, Math.round);
  }

  /** The spending of the present month and quarter of the calendar, so far and at their end, and of the next month; null before the first reading. */
  outlook(balance: Balance, now: number) {
    const [sums, last] = [this.#sums, this.#last];
    if (sums === null || last === null) return null;
    const [month, quarter] = presentSums(sums, { week: this.week, last, now });
    return {
      month: this.#reckon(balance, month),
      nextMonth: this.#expectedIn(balance, month.endsAt, endOfNextMonth(this.week, month.startsAt)),
      quarter: this.#reckon(balance, quarter),
    };
  }

  #expectedIn(balance: Balance, from: number, to: number): ExpectedSpending | null {
    const before = this.#expectedOrNothing(balance, from);
    const until = this.#expectedOrNothing(balance, to);
    const share = before && until && (until.micros - before.micros) / (until.micros || 1);
    return until && mapRange(until, (micros) => Math.round(micros * (share ?? 0)));
  }

  /** `expectedUntil`, and nothing of a balance that was watched for a day and never fell. */
  #expectedOrNothing(balance: Balance, until: number): ExpectedSpending | null {
    const expected = this.expectedUntil(balance, until);
    const knownSince = Math.min(...Object.values(this.#sums ?? {}).map((sum) => sum.knownSince));
    const isIdle = this.state(balance) === null && (this.#last?.at ?? 0) - knownSince >= dayMs;
    return expected === null && isIdle ? { micros: 0, low: 0, high: 0 } : expected;
  }

  #reckon(balance: Balance, { startsAt, endsAt, knownSince, ...sum }: PeriodSum): PeriodOutlook {
    const spent = ownOf(sum.spent, balance) ?? 0;
    const rest = this.#expectedIn(balance, startsAt, endsAt);
    return { startsAt, endsAt, knownSince, spent, total: rest && mapRange(rest, (micros) => spent + micros) };
  }

  /** Whether `left` lasts longer than so long by the forecast; null where `forecastAt` says null. */
  lastsLonger(
    reading: Reading,
    balance: Balance,
    { left, forMs }: { left: Micros; forMs: number },
  ): boolean | null {
    const known = this.#known.get(balance);
    const walk = this.#present(known);
    if (known === undefined || walk === null || this.#last?.at !== reading.at) return null;
    return lastsLonger(known.state, walk, { left, at: reading.at, forMs });
  }

  /** The forecast of a week ago compared with what came; null where that is unknown. */
  weekAgo(balance: Balance): WeekAgo | null {
    const state = this.state(balance);
    return state === null || this.#hour === null ? null : lookWeekBack(state, this.#hour.startsAt);
  }

  /** The usual spending in the hour of the newest reading, in a week, and in its busiest hour; null while the balance never fell. */
  usual(balance: Balance): UsualSpending | null {
    const state = this.state(balance);
    return state === null || this.#hour === null ? null : usualSpendings(state, this.#hour.slot);
  }

  /** Days that are expected to take more than their weekday: of the month, or every two weeks. */
  runs(balance: Balance): readonly ExpectedRun[] {
    const known = this.#known.get(balance);
    return known === undefined || this.#hour === null ? [] : this.#runsOf(known, this.#hour.startsAt);
  }

  /** When runs are expected to begin within a month after the newest reading, and what each takes. */
  comingRuns(balance: Balance): readonly { readonly at: number; readonly micros: Micros }[] {
    const at = this.#last?.at ?? 0;
    const announced = this.#announced.filter((run) => run.balance === balance);
    const runs = [
      ...plannedRuns(this.runs(balance), this.week, { now: at, days: 31, announced }),
      ...announced.map(({ startsAt, amountMicros }) => ({ at: startsAt, micros: amountMicros })),
    ];
    return runs.filter((run) => run.at > at).map((run) => ({ at: run.at, micros: run.micros }));
  }

  /** The record of three-day forecasts that came due in the last two weeks; null where none did. */
  record(balance: Balance): ForecastRecord | null {
    const state = this.state(balance);
    return state && forecastRecord(state, 72);
  }

  /** All of it, about 3.4 KB for each balance that ever fell; null before the first reading. */
  bytes(): Uint8Array | null {
    if (this.#last === null || this.#sums === null) return null;
    const states = Object.keys(this.#last.balances).map((balance) => this.state(balance));
    return writeSpending({ timezone: this.week.key, last: this.#last, sums: this.#sums, states });
  }

  /** Goes on from what `bytes` gave. False where that is of another version or time zone: nothing changes then. */
  restore(bytes: Uint8Array): boolean {
    const found = readSpending(bytes);
    if (found === null || found.timezone !== this.week.key) return false;
    this.#last = found.last;
    this.#hour = this.week.hourAt(found.last.at);
    this.#sums = found.sums;
    this.#known.clear();
    for (const [index, balance] of Object.keys(found.last.balances).entries()) {
      const state = found.states[index];
      if (state) this.#known.set(balance, fresh(state));
    }
    return true;
  }

  /** The walk from the present hour on; null while less than a day is known. */
  #present(known: Known | undefined): Walk | null {
    if (known === undefined || this.#hour === null || known.state.hours < hoursForForecast) return null;
    return this.#walk(known, this.#hour.startsAt);
  }

  #walk(known: Known, startsAt: number): Walk {
    if (known.walk?.startsAt !== startsAt) {
      const sums = known.walk?.sums ?? new Float32Array(farthestHours + 1);
      const runs = this.#runsOf(known, startsAt);
      const at = Math.max(startsAt, this.#last?.at ?? startsAt);
      const announced = this.#announcedOf(known).map((run) => restOf(run, at));
      known.walk = walkAhead(known.state, { startsAt, week: this.week, runs, announced, sums });
    }
    return known.walk;
  }

  #spend(
    balance: Balance,
    part: Record<'last' | 'reading', Reading> & { from: number; to: number; hour: LocalHour },
  ): void {
    const { last, reading, from, to, hour } = part;
    const fell = amountOf(last, balance) - amountOf(reading, balance);
    const known = this.#known.get(balance) ?? this.#firstFall(balance, fell);
    if (known === null) return;
    const { state } = known;
    const left = amountOf(reading, balance) - this.#floorMicros;
    if (fell < 0 || (fell === 0 && left < nearlyEmpty * state.meanHour)) return;
    const spent = fell * ((to - from) / (reading.at - last.at));
    noteFall(state, fell);
    state.spent += spent;
    state.seenMs += to - from;
    if (state.hours < hoursPerWeek) return;
    known.usual ??= usualRange(state, hour.slot, this.#plannedIn(known, hour));
    const beyond = spent - (known.usual.usual * (to - from)) / hourMs;
    watchUnusual(state, known.usual, { spent: spent - this.#ofRuns(known, { beyond, from, to }), from, to });
  }

  #announcedOf(known: Known): readonly AnnouncedRun[] {
    return this.#announced.filter((run) => this.state(run.balance) === known.state);
  }

  /** The part of spending beyond the usual that announced runs took. */
  #ofRuns(known: Known, { beyond, from, to }: Record<'beyond' | 'from' | 'to', number>): Micros {
    if (this.#announced.length === 0) return 0;
    const most = mostOf(this.#announcedOf(known), from, to);
    const own = Math.max(0, Math.min(beyond, most - known.ofRuns));
    known.ofRuns += own;
    return own;
  }

  #firstFall(balance: Balance, fell: Micros): Known | null {
    if (fell <= 0) return null;
    const known = fresh(new BalanceState());
    beginInterval(known.state);
    this.#known.set(balance, known);
    return known;
  }

  #runsOf(known: Known, at: number): readonly ExpectedRun[] {
    known.runs ??= expectedRuns(known.state, this.week, this.week.dayAt(at));
    return known.runs;
  }

  #plannedIn(known: Known, { startsAt, slot }: LocalHour): Micros {
    const runs = this.#runsOf(known, startsAt);
    if (runs.length === 0) return 0;
    return plannedIn(runs, this.week, { day: this.week.dayAt(startsAt), hour: slot % 24 });
  }

  #endHour(ended: LocalHour): void {
    const next = this.week.hourAt(ended.endsAt);
    this.#hour = next;
    const day = this.week.dayAt(ended.startsAt);
    const isNewDay = this.week.dayAt(next.startsAt) !== day;
    for (const known of this.#known.values()) {
      const { state } = known;
      const { byTime, all } = announcedBetween(this.#announcedOf(known), ended.startsAt, ended.endsAt);
      learnHour(state, { ...ended, day, planned: this.#plannedIn(known, ended) + byTime, announced: all });
      if (isNewDay) known.runs = null;
      forgetUnusual(state);
      known.usual = null;
      passHour(state, {
        spent: state.spent,
        seen: isSeen(state),
        predict: (hours) => sumAt(this.#walk(known, next.startsAt), hours),
      });
      state.spent = 0;
      state.seenMs = 0;
    }
  }
}

/** A reading in another currency, or of other balances, has nothing to do with the one before. */
function isComparable(last: Reading, reading: Reading): boolean {
  return isSameCurrency(last.currency, reading.currency) && hasSameBalances(last, reading);
}

function fresh(state: BalanceState): Known {
  return { state, runs: null, walk: null, usual: null, ofRuns: 0 };
}
