import type { Batch } from '../../ports/store.ts';

interface Kept {
  readonly incarnation: string;
  /** Its place among the batches of that incarnation, from 1. */
  readonly number: number;
  readonly batch: Batch;
}

/** So many polls and batches are kept: some minutes of a large fleet, some tens of megabytes. */
const maxPolls = 50_000;
const maxBatches = 1000;

/** The batches that this owner stored last, so that it can store them again where the database loses them. */
export class RecentBatches {
  #kept: Kept[] = [];
  #polls = 0;
  /** The one of which it is not known whether it is stored. */
  #unsure: Kept | null = null;

  get incarnations(): readonly string[] {
    return [
      ...new Set(
        [...this.#kept, ...(this.#unsure === null ? [] : [this.#unsure])].map(
          ({ incarnation }) => incarnation,
        ),
      ),
    ];
  }

  clear(): void {
    this.#kept = [];
    this.#polls = 0;
    this.#unsure = null;
  }

  doubt(sent: Kept): void {
    this.#unsure = sent;
  }

  keep(stored: Kept): void {
    this.#unsure = null;
    this.#kept.push(stored);
    this.#polls += stored.batch.polls.length;
    while (this.#polls > maxPolls || this.#kept.length > maxBatches)
      this.#polls -= this.#kept.shift()?.batch.polls.length ?? 0;
  }

  /** Takes out what the database has not, by how many batches it has of each incarnation; oldest first. And what it has after all. */
  takeLost(known: ReadonlyMap<string, number>): {
    readonly lost: readonly Batch[];
    readonly found: Batch | null;
  } {
    const isLost = ({ incarnation, number }: Kept): boolean => number > (known.get(incarnation) ?? 0);
    const lost = this.#kept.filter(isLost).map(({ batch }) => batch);
    const unsure = this.#unsure;
    this.#kept = this.#kept.filter((kept) => !isLost(kept));
    this.#polls = this.#kept.reduce((sum, { batch }) => sum + batch.polls.length, 0);
    this.#unsure = null;
    return { lost, found: unsure === null || isLost(unsure) ? null : unsure.batch };
  }
}
