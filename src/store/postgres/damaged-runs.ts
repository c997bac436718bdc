import type { DamagedRun } from '../../ports/store.ts';

/** A run that cannot be read, with its bytes. */
export interface FoundRun extends DamagedRun {
  /** Null for a tail. */
  readonly seq: number | null;
  readonly data: Uint8Array;
  readonly reason: string;
}

/** What was found damaged: the next batch that is stored sets it aside. */
export class DamagedRuns {
  readonly #found = new Map<string, FoundRun>();
  readonly #untaken: DamagedRun[] = [];

  note(run: FoundRun): void {
    this.#found.set(run.seq === null ? run.account : `#${run.seq}`, run);
  }

  /** What a batch has to set aside: sealed runs, and tails of accounts that it begins anew. */
  of(accounts: (account: string) => boolean): readonly FoundRun[] {
    return [...this.#found.values()].filter(({ seq, account }) => seq !== null || accounts(account));
  }

  /** These were set aside. */
  stored(runs: readonly FoundRun[]): void {
    for (const { seq, data: _data, reason: _reason, ...run } of runs) {
      this.#found.delete(seq === null ? run.account : `#${seq}`);
      this.#untaken.push(run);
    }
  }

  take(): readonly DamagedRun[] {
    return this.#untaken.splice(0);
  }
}
