import type { Micros } from '../domain/money.ts';
import type { AnnouncedRun } from '../domain/operator.ts';
import {
  amountOf,
  type Balance,
  type BalanceDefinition,
  emptyLevel,
  type Reading,
} from '../domain/reading.ts';
import { hourMs } from '../domain/time.ts';
import { announcedBetween, mostOf, restOf } from './announced.ts';
import type { BalanceState } from './balance-state.ts';
import { type ExpectedRun, expectedRuns, plannedIn } from './expected-runs.ts';
import { sumAt, type Walk, walkAhead } from './forecast.ts';
import { passHour, wasSeen } from './interval.ts';
import { isSeen, learnHour } from './learn-hour.ts';
import { farthestHours, hoursPerWeek, type LocalHour, type LocalWeek } from './local-week.ts';
import { usualSpending, usualWeek } from './profile.ts';
import { isBrief, nearlyEmpty, noteFall, passRise } from './silence.ts';
import { isTopUp } from './top-ups.ts';
import { forgetUnusual, passTopUp, type Usual, usualRange, watchUnusual } from './unusual.ts';

/** The share of a mean hour that every hour takes of a fall across several hours, besides what is usual. */
const leastWeight = 0.1;
/** A fall across a longer time that is less than half of the usual may hide a top-up, as a rise does. A weekend without polls is shorter. */
const longMs = 72 * hourMs;
const leastShare = 0.5;
/** An expected run may take this many times what it is expected to take; the part beyond the expected may also come an hour later. */
const mostOfRuns = 1.5;

export interface SpendingSettings {
  readonly week: LocalWeek;
  readonly balances: readonly BalanceDefinition[];
  /** The amount at which balances in the account's currency are empty. */
  readonly floorMicros: Micros;
  /** Runs beyond the usual that people announced, of all balances. */
  readonly announced: readonly AnnouncedRun[];
}

/** The part of the time from one reading to the next that lies within one hour. */
interface PartOfHour extends Record<'last' | 'reading', Reading> {
  readonly from: number;
  readonly to: number;
  readonly hour: LocalHour;
}

/** One balance that ever fell: its state, and what is calculated from that for the present hour. */
export class BalanceSpending {
  readonly balance: Balance;
  readonly state: BalanceState;
  #settings: SpendingSettings;
  /** The expected runs; calculated again on a new day, and after a day with a run. */
  #runs: readonly ExpectedRun[] | null = null;
  #walk: Walk | null = null;
  #usual: Usual | null = null;
  /** The spending of announced runs since the settings last said how much that is. */
  #ofAnnounced: Micros = 0;
  /** The amount that expected runs may still take in the present hour, at once or bit by bit. */
  #restOfRuns: Micros = 0;
  /** How the hours of the week share the fall that is taken in, each as a multiple of an even share; null: evenly. */
  #weights: Float32Array | null = null;
  /** A fall across the time that is taken in is not seen if it is less than this for each millisecond. */
  #leastPerMs = 0;

  constructor(balance: Balance, state: BalanceState, settings: SpendingSettings) {
    this.balance = balance;
    this.state = state;
    this.#settings = settings;
  }

  adopt(settings: SpendingSettings): void {
    if (settings.announced !== this.#settings.announced) {
      this.#walk = null;
      this.#ofAnnounced = 0;
    }
    this.#settings = settings;
  }

  /** The spending from the beginning of the present hour on, with what is left of announced runs at `readAt`; null while less than a day is known. */
  walkFrom(startsAt: number, readAt: number): Walk | null {
    return isBrief(this.state) ? null : this.#walkFrom(startsAt, readAt);
  }

  #walkFrom(startsAt: number, readAt: number): Walk {
    if (this.#walk?.startsAt !== startsAt) {
      const sums = this.#walk?.sums ?? new Float32Array(farthestHours + 1);
      const runs = this.runsFrom(startsAt);
      const announced = this.#announced.map((run) => restOf(run, Math.max(startsAt, readAt)));
      this.#walk = walkAhead(this.state, { startsAt, week: this.#settings.week, runs, announced, sums });
    }
    return this.#walk;
  }

  /** Days, from the present one on, that are expected to take more than their weekday. */
  runsFrom(at: number): readonly ExpectedRun[] {
    const { week } = this.#settings;
    this.#runs ??= expectedRuns(this.state, week, week.dayAt(at));
    return this.#runs;
  }

  /** Spreads a fall across these hours as they usually take, with a tenth of the mean hour more for each; without hours, evenly. */
  weighHours(hours: readonly LocalHour[]): void {
    this.#weights = null;
    this.#leastPerMs = 0;
    if (hours.length === 0) return;
    const weights = usualWeek(this.state).map((usual) => usual + leastWeight * this.state.meanHour);
    const weigh = (sum: number, { slot, startsAt, endsAt }: LocalHour) =>
      sum + (weights[slot] ?? 0) * (endsAt - startsAt);
    const ms = hours.reduce((sum, { startsAt, endsAt }) => sum + endsAt - startsAt, 0);
    const mean = hours.reduce(weigh, 0) / ms;
    if (mean > 0) this.#weights = weights.map((weight) => weight / mean);
    // An account that is always read this seldom would otherwise never learn of less spending.
    if (ms > longMs && this.state.hours >= hoursPerWeek && wasSeen(this.state))
      this.#leastPerMs = (leastShare * (mean - leastWeight * this.state.meanHour)) / hourMs;
  }

  /** Takes in what was spent in a part of an hour. */
  spend({ last, reading, from, to, hour }: PartOfHour): void {
    const { state } = this;
    const now = amountOf(reading, this.balance);
    const fell = amountOf(last, this.balance) - now;
    if (isTopUp(state, -fell)) passTopUp(state);
    if (fell < 0) passRise(state, this.#leftOf(now), -fell);
    if (fell < 0 || fell < this.#leastPerMs * (reading.at - last.at)) return;
    if (fell === 0 && this.#isNearlyEmpty(now)) return;
    const spent = (fell * (this.#weights?.[hour.slot] ?? 1) * (to - from)) / (reading.at - last.at);
    const { smallestFall, usualSilence } = state;
    noteFall(state, fell);
    // The walk of this hour depends on it, and must be as it would be made after a restart.
    if (state.smallestFall !== smallestFall) this.#walk = null;
    state.spent += spent;
    state.seenMs += to - from;
    if (state.hours < hoursPerWeek) return;
    if (this.#usual === null) {
      this.#usual = usualRange(state, hour.slot);
      // After a restart the hour has begun already.
      const taken = state.spent - spent - (this.#usual.usual * (from - hour.startsAt)) / hourMs;
      const before = this.#plannedIn(this.#settings.week.hourAt(hour.startsAt - 1));
      const most = mostOfRuns * this.#plannedIn(hour) + (mostOfRuns - 1) * before;
      this.#restOfRuns = most - Math.max(0, taken);
    }
    const beyond = spent - (this.#usual.usual * (to - from)) / hourMs;
    const ofAnnounced = this.#takeOfAnnounced(beyond, last.at, reading.at);
    const ofRuns = Math.max(0, Math.min(beyond - ofAnnounced, this.#restOfRuns));
    this.#restOfRuns -= ofRuns;
    watchUnusual(state, this.#usual, { spent: spent - ofAnnounced - ofRuns, from, to });
    if (state.usualSilence !== usualSilence) this.#walk = null;
  }

  /** Learns an hour that ended; `day` is its local one, `isLast` whether it is that day's last hour. */
  endHour(
    ended: LocalHour & { readonly day: number; readonly isLast: boolean },
    { startsAt, readAt }: Record<'startsAt' | 'readAt', number>,
  ): void {
    const { state } = this;
    state.usualBefore = usualSpending(state, ended.slot);
    const { byTime, all } = announcedBetween(this.#announced, ended.startsAt, ended.endsAt);
    const { runDays } = state;
    learnHour(state, { ...ended, planned: this.#plannedIn(ended) + byTime, announced: all });
    if (ended.isLast || state.runDays !== runDays) this.#runs = null;
    forgetUnusual(state);
    this.#usual = null;
    passHour(state, {
      spent: state.spent,
      seen: isSeen(state),
      predict: (hours) => sumAt(this.#walkFrom(startsAt, readAt), hours),
    });
    this.beginHour();
  }

  /** Begins an hour of which nothing is seen yet. */
  beginHour(): void {
    this.state.spent = 0;
    this.state.seenMs = 0;
  }

  #isNearlyEmpty(now: Micros): boolean {
    return this.#leftOf(now) < nearlyEmpty(this.state);
  }

  #leftOf(now: Micros): Micros {
    return now - emptyLevel(this.#settings, this.balance);
  }

  get #announced(): readonly AnnouncedRun[] {
    return this.#settings.announced.filter(({ balance }) => balance === this.balance);
  }

  /** The part of spending beyond the usual that announced runs took, from reading to reading: in a gap nobody saw at which hour it was spent. */
  #takeOfAnnounced(beyond: Micros, from: number, to: number): Micros {
    if (this.#settings.announced.length === 0) return 0;
    const most = mostOf(this.#announced, from, to);
    const own = Math.max(0, Math.min(beyond, most - this.#ofAnnounced));
    this.#ofAnnounced += own;
    return own;
  }

  #plannedIn({ startsAt, slot }: LocalHour): Micros {
    const { week } = this.#settings;
    const runs = this.runsFrom(startsAt);
    return runs.length === 0 ? 0 : plannedIn(runs, week, { day: week.dayAt(startsAt), hour: slot % 24 });
  }
}
