import type { Batch } from '../../ports/store.ts';
import { keptForMs } from './lease.ts';

interface Sent {
  readonly incarnation: string;
  readonly number: number;
  readonly batch: Batch;
}

interface Kept extends Sent {
  readonly at: number;
}

/** Polls and batches that are kept: some minutes of a large fleet, some tens of megabytes. */
const maxPolls = 50_000;
const maxBatches = 1000;

/** The batches that this owner stored last, so that it can store them again if the database loses them. */
export class RecentBatches {
  readonly #now: () => number;
  #kept: Kept[] = [];
  #polls = 0;
  #unsure: Sent | null = null;

  readonly givenOrders = new Set<string>();
  /** Batches that this process has stored, under any incarnation. */
  readonly #stored = new WeakSet<Batch>();
  /** The incarnations and numbers under which a lost batch was stored before: a server that was left may come into use again. */
  readonly #before = new WeakMap<Batch, readonly Sent[]>();

  constructor(now: () => number) {
    this.#now = now;
  }

  isStored(batch: Batch): boolean {
    return this.#stored.has(batch);
  }

  get incarnations(): readonly string[] {
    const kept = this.#unsure === null ? this.#kept : [...this.#kept, this.#unsure];
    return [...new Set(kept.flatMap((sent) => this.#placesOf(sent)).map(({ incarnation }) => incarnation))];
  }

  clear(): void {
    this.#kept = [];
    this.#polls = 0;
    this.#unsure = null;
    this.givenOrders.clear();
  }

  /** Forgets batches of incarnations that left: the database has what they stored, and no longer counts it. */
  left(incarnations: readonly string[]): void {
    this.#keepOnly(({ incarnation }) => !incarnations.includes(incarnation));
  }

  doubt(sent: Sent): void {
    this.#unsure = sent;
  }

  keep(stored: Sent): void {
    this.#unsure = null;
    this.#stored.add(stored.batch);
    this.#kept.push({ ...stored, at: this.#now() });
    this.#polls += stored.batch.polls.length;
    while (this.#polls > maxPolls || this.#kept.length > maxBatches)
      this.#polls -= this.#kept.shift()?.batch.polls.length ?? 0;
  }

  /** Removes and returns the batches that the database lost, oldest first. `known`: the number of batches that it has, by incarnation. */
  takeLost(known: ReadonlyMap<string, number>): readonly Batch[] {
    const isLost = (sent: Sent): boolean =>
      this.#placesOf(sent).every(({ incarnation, number }) => number > (known.get(incarnation) ?? 0));
    // The database may have forgotten an older incarnation, but not what that stored.
    const since = this.#now() - keptForMs;
    const isThere = ({ incarnation, at }: Kept): boolean => !known.has(incarnation) && at <= since;
    const gone = this.#kept.filter((kept) => isLost(kept) && !isThere(kept));
    for (const { batch } of gone) this.#stored.delete(batch);
    for (const sent of gone) this.#before.set(sent.batch, this.#placesOf(sent));
    if (this.#unsure !== null && !isLost(this.#unsure)) this.#stored.add(this.#unsure.batch);
    this.#keepOnly((kept) => !isLost(kept));
    this.#unsure = null;
    return gone.map(({ batch }) => batch);
  }

  #keepOnly(which: (kept: Kept) => boolean): void {
    this.#kept = this.#kept.filter(which);
    this.#polls = this.#kept.reduce((sum, { batch }) => sum + batch.polls.length, 0);
  }

  #placesOf(sent: Sent): readonly Sent[] {
    return [sent, ...(this.#before.get(sent.batch) ?? [])];
  }
}
