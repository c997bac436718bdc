import type { DamagedRun } from '../../ports/store.ts';
import type { PollCodecError } from '../runs/poll-bytes.ts';
import type { Connection } from './connection.ts';

/** A run that cannot be read, as its row describes it. */
export type FoundDamage = Omit<DamagedRun, 'foundAt'> & {
  /** Null for a tail. */
  readonly seq: number | null;
  readonly error: PollCodecError;
};

/** Moves what cannot be read out of the way of what can, inside a transaction of the caller's: the bytes are kept. */
export class DamagedRuns {
  readonly #statements: ReturnType<typeof prepareStatements>;
  readonly #now: () => number;
  /** What readers found; it stands among the sound runs until the next transaction. */
  readonly #found = new Map<number, FoundDamage>();
  /** Set aside in the transaction under way. */
  #moved: DamagedRun[] = [];
  /** Set aside, and not yet taken by `take`. */
  #untaken: DamagedRun[] = [];

  constructor(db: Connection, now: () => number) {
    this.#statements = prepareStatements(db);
    this.#now = now;
  }

  /** A reader found a sealed run that it skipped. */
  note(found: FoundDamage): void {
    if (found.seq !== null) this.#found.set(found.seq, found);
  }

  /** The account's tail: the account begins another. */
  moveTail(found: FoundDamage): void {
    this.#statements.copyTail.run(...this.#detailsOf(found), found.account);
    this.#statements.emptyTail.run(found.account);
  }

  moveNoted(): void {
    for (const [seq, found] of this.#found) {
      if (this.#statements.copySegment.run(...this.#detailsOf(found), seq).changes > 0)
        this.#statements.removeSegment.run(seq);
    }
  }

  /** The transaction under way is stored, or was taken back. */
  settle(isStored: boolean): void {
    if (isStored) {
      this.#untaken.push(...this.#moved);
      this.#found.clear();
    }
    this.#moved = [];
  }

  take(): readonly DamagedRun[] {
    return this.#untaken.splice(0);
  }

  #detailsOf({ account, earliestAt, latestAt, polls, error }: FoundDamage) {
    const foundAt = this.#now();
    this.#moved.push({ account, earliestAt, latestAt, polls, foundAt });
    return [account, earliestAt, latestAt, polls, foundAt, error.message] as const;
  }
}

function prepareStatements(db: Connection) {
  const insert = 'INSERT INTO damaged_run (account, earliest_at, latest_at, polls, found_at, reason, data)';
  return {
    copyTail: db.prepare(`${insert} SELECT ?, ?, ?, ?, ?, ?, tail FROM account WHERE id = ?`),
    emptyTail: db.prepare<[string]>(
      'UPDATE account SET tail = NULL, tail_polls = 0, tail_latest_at = NULL WHERE id = ?',
    ),
    copySegment: db.prepare(`${insert} SELECT ?, ?, ?, ?, ?, ?, data FROM segment WHERE seq = ?`),
    removeSegment: db.prepare<[number]>('DELETE FROM segment WHERE seq = ?'),
  };
}
