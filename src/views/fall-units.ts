import type { Micros } from '../domain/money.ts';
import { dayMs } from '../domain/time.ts';

/** A day shows what a message takes if at least this many falls are all a multiple of the smallest … */
const leastFalls = 12;
/** … and a time does if nearly all that was spent in it is of such days. */
const leastKnown = 0.9;

/** The additional spending by its reasons. */
export interface Reasons {
  readonly price: Micros;
  readonly volume: Micros;
}

/** Finds what a message took on the mean of a time, if the falls of a balance show that. */
export class FallUnits {
  spent: Micros = 0;
  #known: Micros = 0;
  #messages = 0;
  /** The present day: the greatest amount that all of its falls are a multiple of, and the smallest fall. */
  #day = 0;
  #unit: Micros = 0;
  #least: Micros = 0;
  #falls = 0;
  #daySpent: Micros = 0;

  add(at: number, fell: Micros): void {
    if (fell <= 0) return;
    const day = Math.floor(at / dayMs);
    if (day !== this.#day) this.#endDay();
    this.#day = day;
    this.#unit = commonDivisor(this.#unit, fell);
    this.#least = this.#falls === 0 ? fell : Math.min(this.#least, fell);
    this.#falls += 1;
    this.#daySpent += fell;
    this.spent += fell;
  }

  /** The price of a message; null unless it is known for nearly all that was spent. */
  price(): number | null {
    this.#endDay();
    return this.#known > 0 && this.#known >= leastKnown * this.spent ? this.#known / this.#messages : null;
  }

  #endDay(): void {
    // If a provider rounds to cents, the falls are multiples of a cent, whatever a message takes.
    const isRounded = Number.isInteger(Math.log10(this.#unit));
    if (this.#falls >= leastFalls && this.#unit === this.#least && !isRounded) {
      this.#known += this.#daySpent;
      this.#messages += this.#daySpent / this.#unit;
    }
    this.#unit = 0;
    this.#falls = 0;
    this.#daySpent = 0;
  }
}

export type NowAndBefore = Readonly<Record<'now' | 'before', FallUnits>>;

/** The reasons of one account; null unless it is known for each balance that fell, in both times, what a message takes. */
export function reasonsOf(balances: readonly NowAndBefore[]): Reasons | null {
  const spent = balances.filter(({ now, before }) => now.spent + before.spent > 0);
  return addReasons(spent.map(({ now, before }) => splitChange(now, before)));
}

/** The sums of the reasons; null when one of them is not known. */
export function addReasons(all: readonly (Reasons | null)[]): Reasons | null {
  const found = all.flatMap((reasons) => reasons ?? []);
  if (found.length < all.length) return null;
  const sumOf = (reason: keyof Reasons) => found.reduce((sum, each) => sum + each[reason], 0);
  return { price: sumOf('price'), volume: sumOf('volume') };
}

function splitChange(now: FallUnits, before: FallUnits): Reasons | null {
  const [price, former] = [now.price(), before.price()];
  if (price === null || former === null) return null;
  const volume = Math.round((now.spent / price - before.spent / former) * former);
  return { price: now.spent - before.spent - volume, volume };
}

function commonDivisor(one: Micros, other: Micros): Micros {
  let [left, right] = [one, other];
  while (right !== 0) [left, right] = [right, left % right];
  return left;
}
