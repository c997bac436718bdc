import { firstWhere } from '../domain/first-where.ts';
import { isSameCurrency, type Micros } from '../domain/money.ts';
import { ownOf } from '../domain/own.ts';
import { amountOf, type Balance, type Reading } from '../domain/reading.ts';
import { createGapFinder } from './usual-interval.ts';

/** The number of grid cells of the window where the grid is coarsest. */
const cellsPerWindow = 384;
/** A log that is rebuilt begins this share of its window before the window. */
const reloadedBefore = 1 / 8;

/** The window's grid is halved at most this often; readings newer than the finest grid are never thinned. */
const finestLevel = 20;

const blindColumn = 1;
/** The place of a column that is left out of the rows, because it is 0 in all of them. */
const noPlace = -1;

/** Shared by logs that are yet to be filled, because tens of thousands are made at a start. */
const noRows = new Float64Array(0);

/**
 * The readings of one account over the longest window that rules look back on, oldest first, with running
 * sums of what was spent. It is the one mutable thing in the core: `append` changes it, and the same appends
 * always make the same log.
 *
 * - Falls of a balance are spending, rises are top-ups; neither ever changes the other's sum.
 * - One reading from before the window is kept: the balance at the window's start. A younger log keeps its first reading, and all that
 *   was spent since.
 * - Many readings are thinned: those older than a quarter of the window to one (the last) in each 384th of
 *   the window, newer ones to a finer grid, halved as the age halves. The grid is fixed in absolute time.
 *   Sums stay exact between the readings that remain, so a sum over any window is right to a hundredth of it.
 *   With a reading every five minutes a day is kept whole; with one a second about 1,350 are kept, 22 to 55 KB.
 * - A reading in another currency or of other balances starts a new log: nothing is compared or summed across currencies.
 * - A reading that is older than its predecessor (the clock was set back) removes the readings that lie after it from
 *   the log; what was spent in them stays in the sums, and the time back to the reading before counts as
 *   blind.
 *
 * Sums are exact up to the range of money; past it they round as doubles do, and so do balances.
 */
export class ReadingLog {
  /** The longest time that a rule looks back (`maxWindow`). */
  readonly windowMs: number;
  readonly pollIntervalMs: number;
  /**
   * The columns are the instant, and sums that never fall: the blind time in milliseconds, what was spent of each balance, and what each
   * was topped up by. The sums run from the log's start. A sum that is still 0 has no place in the rows: often there is no blind time, no
   * top-up, or a balance that nobody uses.
   */
  #rows = noRows;
  #places: number[] = [0];
  #width = 1;
  #balances: readonly Balance[] = [];
  /** Each balance at the point where its sums are 0. */
  #atStart: readonly Micros[] = [];
  readonly #isGap: (ms: number) => boolean;
  #start = 0;
  #end = 0;
  #currency: string | null = null;
  /** Each balance as it was last read. It shows that a balance stands still, although sums past the range of money are rounded. */
  #newest: Readonly<Record<Balance, Micros>> = {};
  /** True while two neighbours may lie in one cell: only then is there something to thin. */
  #dense = false;

  /** `pollIntervalMs`: the account's usual time between two polls as it is now (`createGapFinder`). */
  constructor({ windowMs, pollIntervalMs }: Pick<ReadingLog, 'windowMs' | 'pollIntervalMs'>) {
    this.windowMs = windowMs;
    this.pollIntervalMs = pollIntervalMs;
    this.#isGap = createGapFinder(pollIntervalMs);
  }

  /**
   * Since when stored readings have to be appended, beginning with the last one before, so that a rebuilt log equals the one that lived
   * through them: thinning looks past the window's start, and gaps are told by the pace of the readings before.
   */
  reloadSince(now: number): number {
    return now - this.windowMs - Math.max(this.windowMs * reloadedBefore, 20 * this.pollIntervalMs);
  }

  get length(): number {
    return this.#end - this.#start;
  }

  /** Currency of every reading in the log; null while it is empty. */
  get currency(): string | null {
    return this.#currency;
  }

  /** The i-th kept reading, oldest first; null outside. */
  at(index: number): Reading | null {
    if (this.#currency === null || index < 0 || index >= this.length) return null;
    const balances = Object.fromEntries(this.#balances.map((id) => [id, this.balanceAt(index, id)]));
    return { at: this.instantAt(index), balances, currency: this.#currency };
  }

  /** Instant of the i-th kept reading; the index must exist. */
  instantAt(index: number): number {
    return this.#cell(index, 0);
  }

  /** Balance of the i-th kept reading; the index and the balance must exist. */
  balanceAt(index: number, balance: Balance): Micros {
    const spent = this.#spentColumnOf(balance);
    const atStart = this.#atStart[this.#balances.indexOf(balance)] ?? 0;
    return atStart + this.#cell(index, spent + this.#balances.length) - this.#cell(index, spent);
  }

  /** Index of the last reading at or before an instant; -1 when there is none. */
  indexAt(instant: number): number {
    return firstWhere(0, this.length, (index) => this.instantAt(index) > instant) - 1;
  }

  /** Sum of the falls from one kept reading to a later one. Never negative. */
  spentBetween(balance: Balance, from: number, to: number): Micros {
    const spent = this.#spentColumnOf(balance);
    return this.#cell(to, spent) - this.#cell(from, spent);
  }

  /** Sum of the rises from one kept reading to a later one. Never negative. */
  toppedUpBetween(balance: Balance, from: number, to: number): Micros {
    const toppedUp = this.#spentColumnOf(balance) + this.#balances.length;
    return this.#cell(to, toppedUp) - this.#cell(from, toppedUp);
  }

  /** Time in gaps from one kept reading to a later one: spending there may hide behind a top-up. */
  blindBetween(from: number, to: number): number {
    return this.#cell(to, blindColumn) - this.#cell(from, blindColumn);
  }

  /** Rises since the last reading at or before an instant, or since the first there is. 0 when empty. */
  toppedUpSince(balance: Balance, instant: number): Micros {
    if (this.length === 0) return 0;
    return this.toppedUpBetween(balance, Math.max(0, this.indexAt(instant)), this.length - 1);
  }

  /** Index of the reading that showed the last fall; 0, the first reading, when none of the log did. */
  lastSpendingIndex(balance: Balance): number {
    const spent = this.#spentColumnOf(balance);
    const total = this.length === 0 ? 0 : this.#cell(this.length - 1, spent);
    return firstWhere(0, this.length, (index) => this.#cell(index, spent) >= total);
  }

  /** Readings at or after an instant, oldest first. */
  readings(since: number): Reading[] {
    const found: Reading[] = [];
    for (let index = this.indexAt(since - 1) + 1; index < this.length; index++) {
      const reading = this.at(index);
      if (reading !== null) found.push(reading);
    }
    return found;
  }

  append(reading: Reading): void {
    if (!this.#isComparable(reading)) this.#restart(reading);
    // This comes first, because it moves the sums that the new row is calculated from.
    if ((this.#end + 1) * this.#width > this.#rows.length) this.#makeRoom();
    const { at } = reading;
    const last = this.length - 1;
    let before = last;
    while (before >= 0 && this.instantAt(before) >= at) before--;
    const previousAt = before < 0 ? at : this.instantAt(before);
    let blindMs = before < 0 ? 0 : this.#cell(before, blindColumn);
    const clockSetBack = last >= 0 && at < this.instantAt(last);
    if (clockSetBack || this.#isGap(at - previousAt)) blindMs += at - previousAt;
    this.#end = this.#start + before + 2;
    if (last < 0) this.#atStart = Object.values(reading.balances);
    else this.#addMoves(last, reading);
    this.#newest = reading.balances;
    this.#put(0, at);
    this.#put(blindColumn, blindMs);
    // Readings before the window are dropped, except the last reading there.
    while (this.length > 1 && this.instantAt(1) <= at - this.windowMs) this.#start++;
    this.#thinAfter(previousAt, at);
  }

  /** Writes the sums of the new row. Those of the last row are read before, because the new row may lie in its place. */
  #addMoves(last: number, reading: Reading): void {
    let spent = blindColumn;
    for (const balance of this.#balances) {
      const toppedUp = ++spent + this.#balances.length;
      const spentBefore = this.#cell(last, spent);
      const toppedUpBefore = this.#cell(last, toppedUp);
      const micros = amountOf(reading, balance);
      const wouldBe = (this.#atStart[spent - 2] ?? 0) + toppedUpBefore - spentBefore;
      const rose = micros === ownOf(this.#newest, balance) ? 0 : micros - wouldBe;
      this.#put(spent, spentBefore + Math.max(0, -rose));
      this.#put(toppedUp, toppedUpBefore + Math.max(0, rose));
    }
  }

  #restart({ currency, balances }: Reading): void {
    this.#currency = currency;
    this.#balances = Object.keys(balances);
    this.#places = new Array<number>(2 * this.#balances.length + 2).fill(noPlace).fill(0, 0, 1);
    this.#width = 1;
    this.#rows = noRows;
    this.#start = 0;
    this.#end = 0;
    this.#dense = false;
  }

  /** Sums restart at the oldest row, so that years of spending stay exact integers. A column that did not grow since then gives its place back. */
  #makeRoom(): void {
    const { length } = this;
    this.#atStart = this.#balances.map((balance) => this.balanceAt(0, balance));
    let width = 0;
    const places = this.#places.map((_, column) =>
      column === 0 || this.#cell(length - 1, column) > this.#cell(0, column) ? width++ : noPlace,
    );
    const rows = new Float64Array((length + Math.max(16, length >> 3)) * width);
    for (const [column, place] of places.entries()) {
      if (place === noPlace) continue;
      const base = column === 0 ? 0 : this.#cell(0, column);
      let from = this.#start * this.#width + (this.#places[column] ?? 0);
      for (let to = place; to < length * width; to += width, from += this.#width)
        rows[to] = (this.#rows[from] ?? 0) - base;
    }
    this.#rows = rows;
    this.#places = places;
    this.#width = width;
    this.#start = 0;
    this.#end = length;
  }

  /** Writes a number of the newest row. */
  #put(column: number, value: number): void {
    if (this.#places[column] === noPlace) {
      if (value === 0) return;
      this.#widen(column);
    }
    this.#rows[(this.#end - 1) * this.#width + (this.#places[column] ?? 0)] = value;
  }

  /** Gives a column a place in all rows, also in those that were just taken out, because spending is calculated from the last of them. */
  #widen(column: number): void {
    const width = this.#width++;
    const rows = new Float64Array((this.#rows.length / width) * this.#width);
    for (let from = 0; from < this.#rows.length; from += width)
      rows.set(this.#rows.subarray(from, from + width), (from / width) * this.#width);
    this.#places[column] = width;
    this.#rows = rows;
  }

  /** Thins when time has entered a new cell: the outcome then depends on the readings and that cell, not on when it is done. */
  #thinAfter(previousAt: number, at: number): void {
    const cellMs = this.windowMs / cellsPerWindow;
    if (at - previousAt < cellMs) this.#dense = true;
    const boundary = Math.floor(at / cellMs);
    if (!this.#dense || boundary === Math.floor(previousAt / cellMs)) return;
    this.#thin(boundary * cellMs, cellMs);
  }

  /**
   * Keeps the first reading, and the last one of each cell. A cell of level k is the 2^k-th part of `cellMs`; it applies once all
   * of it is older than a quarter of the window over 2^k. Cells of one level lie wholly in those of the level
   * below, which is why thinning bit by bit and thinning at once give the same.
   */
  #thin(now: number, cellMs: number): void {
    const rows = this.#rows;
    const width = this.#width;
    let level = 0;
    let kept = this.#start + 1;
    this.#dense = false;
    for (let row = kept; row < this.#end; row++) {
      const at = rows[row * width] ?? 0;
      while (level <= finestLevel && !this.#isOldEnough(at, { level, now, cellMs })) level++;
      const scale = 2 ** level / cellMs;
      const next = row + 1 < this.#end ? (rows[(row + 1) * width] ?? 0) : Number.POSITIVE_INFINITY;
      if (level <= finestLevel && Math.floor(at * scale) === Math.floor(next * scale)) continue;
      if (next - at < cellMs) this.#dense = true;
      if (kept !== row) rows.copyWithin(kept * width, row * width, (row + 1) * width);
      kept++;
    }
    this.#end = kept;
  }

  #isOldEnough(at: number, { level, now, cellMs }: { level: number; now: number; cellMs: number }): boolean {
    const scale = 2 ** level;
    const cellEnd = ((Math.floor((at * scale) / cellMs) + 1) * cellMs) / scale;
    return now - cellEnd >= this.windowMs / 4 / scale;
  }

  #spentColumnOf(balance: Balance): number {
    return 1 + blindColumn + this.#balances.indexOf(balance);
  }

  #isComparable({ currency, balances }: Reading): boolean {
    if (this.#currency === null || !isSameCurrency(currency, this.#currency)) return false;
    let count = 0;
    for (const balance in balances) if (this.#balances[count++] !== balance) return false;
    return count === this.#balances.length;
  }

  #cell(index: number, column: number): number {
    const place = this.#places[column] ?? 0;
    if (place === noPlace) return 0;
    return this.#rows[(this.#start + index) * this.#width + place] ?? 0;
  }
}
