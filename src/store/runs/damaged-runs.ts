import type { DamagedRun } from '../../ports/store.ts';

/** A run that cannot be read, with its bytes. */
export interface FoundRun extends DamagedRun {
  /** Null for a tail. */
  readonly seq: number | null;
  readonly data: Uint8Array;
  readonly reason: string;
}

/** A run as its reader finds it. */
export type FoundDamage = Omit<FoundRun, 'foundAt'>;

/** What was found damaged: the next batch that is stored sets it aside. */
export class DamagedRuns {
  readonly #now: () => number;
  readonly #found = new Map<string, FoundRun>();
  readonly #untaken: DamagedRun[] = [];

  constructor(now: () => number) {
    this.#now = now;
  }

  note(run: FoundDamage): void {
    this.#found.set(placeOf(run), { ...run, foundAt: this.#now() });
  }

  /** What a batch has to set aside: sealed runs, and tails of accounts that it begins anew. */
  of(beginsAnew: (account: string) => boolean): readonly FoundRun[] {
    return [...this.#found.values()].filter(({ seq, account }) => seq !== null || beginsAnew(account));
  }

  /** These were set aside. */
  stored(runs: readonly FoundRun[]): void {
    for (const found of runs) {
      const { seq: _seq, data: _data, reason: _reason, ...run } = found;
      this.#found.delete(placeOf(found));
      this.#untaken.push(run);
    }
  }

  take(): readonly DamagedRun[] {
    return this.#untaken.splice(0);
  }
}

function placeOf({ seq, account }: Pick<FoundRun, 'seq' | 'account'>): string {
  return seq === null ? account : `#${seq}`;
}
