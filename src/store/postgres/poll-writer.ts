import type { Batch } from '../../ports/store.ts';
import { accountToBody } from '../account-body.ts';
import { PollEncoder } from '../runs/poll-codec.ts';
import { resumeRun, unlessDamaged } from '../runs/stored-run.ts';
import { isFull } from '../runs/tail.ts';
import { textArray } from './binary-array.ts';
import type { Ask } from './connection.ts';
import type { DamagedRuns, FoundRun } from './damaged-runs.ts';

/** What changes of an account's row; null leaves a column as it is. */
export interface AccountChange {
  readonly no: number;
  /** An empty one removes the state. */
  body: string | null;
  tail: { readonly bytes: Uint8Array; readonly polls: number; readonly latestAt: number } | null;
}

/** A run that is full. */
export interface Sealed {
  readonly no: number;
  readonly earliestAt: number;
  readonly latestAt: number;
  readonly polls: number;
  readonly data: Uint8Array;
}

/** The rows that a batch makes of its accounts. */
export interface AccountRows {
  readonly accounts: readonly AccountChange[];
  readonly sealed: readonly Sealed[];
  readonly spending: ReadonlyMap<number, Uint8Array>;
  readonly forgottenSpending: readonly number[];
  readonly damaged: readonly FoundRun[];
}

interface Tail {
  readonly no: number;
  encoder: PollEncoder;
}

export interface TailRow {
  readonly no: number;
  readonly id: string;
  readonly tail: Buffer | null;
  readonly polls: number;
  readonly latestAt: number | null;
}

/** So many tails are read at once: a few megabytes. */
const tailsAtOnce = 2000;

/**
 * Makes rows of polls and account states. It keeps each account's tail in memory, as the database will have it; after a batch that
 * was not stored, `forget` makes it read them anew.
 *
 * `create` makes rows for accounts that have none. They hold nothing yet, and nobody finds them before the batch that fills them.
 */
export class PollWriter {
  readonly #ask: Ask;
  readonly #create: (ids: readonly string[]) => Promise<readonly TailRow[]>;
  readonly #damaged: DamagedRuns;
  readonly #now: () => number;
  readonly #tails = new Map<string, Tail>();
  /** Accounts that begin their tail anew because the stored one is damaged. */
  readonly #renewed = new Set<string>();
  #writes: 1 | 2 | null = null;

  constructor(
    ask: Ask,
    dependencies: {
      readonly create: (ids: readonly string[]) => Promise<readonly TailRow[]>;
      readonly damaged: DamagedRuns;
      readonly now: () => number;
    },
  ) {
    this.#ask = ask;
    this.#create = dependencies.create;
    this.#damaged = dependencies.damaged;
    this.#now = dependencies.now;
  }

  /** Refuses (RangeError) polls that could not be given back exactly. */
  async rowsOf(batch: Batch): Promise<AccountRows> {
    await this.#readTails(batch);
    try {
      return this.#makeRows(batch);
    } catch (error) {
      this.forget();
      throw error;
    }
  }

  /** The tails in memory may differ from the database: the next batch reads them again. */
  forget(): void {
    this.#tails.clear();
    this.#renewed.clear();
  }

  async #readTails(batch: Batch): Promise<void> {
    const unknown = batchAccounts(batch).filter((id) => !this.#tails.has(id));
    if (unknown.length > 0) this.#writes ??= await versionToWrite(this.#ask);
    for (let from = 0; from < unknown.length; from += tailsAtOnce) {
      const ids = unknown.slice(from, from + tailsAtOnce);
      const found = await this.#ask<TailRow>(
        `SELECT no, id, tail, tail_polls AS polls, tail_latest_at AS "latestAt" FROM account WHERE id = ANY($1::text[])`,
        [textArray(ids)],
      );
      const known = new Set(found.map(({ id }) => id));
      const missing = ids.filter((id) => !known.has(id));
      const created = missing.length === 0 ? [] : await this.#create(missing);
      for (const row of [...found, ...created])
        this.#tails.set(row.id, { no: row.no, encoder: this.#encoderOf(row) });
    }
  }

  /** Goes on with the stored tail; a damaged one is set aside, and the account begins another. */
  #encoderOf({ id, tail, polls, latestAt }: TailRow): PollEncoder {
    const writes = this.#writes ?? 1;
    return unlessDamaged(
      () => resumeRun(tail, polls, writes),
      ({ message }) => {
        const data = tail ?? new Uint8Array();
        const about = { account: id, earliestAt: null, latestAt, polls, foundAt: this.#now() };
        this.#damaged.note({ ...about, seq: null, data, reason: message });
        this.#renewed.add(id);
        return new PollEncoder(null, writes);
      },
    );
  }

  #makeRows(batch: Batch): AccountRows {
    const changes = new Map<Tail, AccountChange>();
    const change = (tail: Tail): AccountChange => {
      const known = changes.get(tail) ?? { no: tail.no, body: null, tail: null };
      changes.set(tail, known);
      return known;
    };
    const sealed: Sealed[] = [];
    const grown = new Set<Tail>();
    for (const { account, poll } of batch.polls) {
      const tail = this.#tailOf(account);
      if (isFull(tail.encoder, poll.at)) sealed.push(seal(tail, this.#writes ?? 1));
      tail.encoder.append(poll);
      grown.add(tail);
    }
    const renewed = batchAccounts(batch).filter((id) => this.#renewed.has(id));
    for (const id of renewed) grown.add(this.#tailOf(id));
    for (const tail of grown) {
      const { encoder } = tail;
      // Of an empty one nothing is old.
      const latestAt = encoder.polls === 0 ? this.#now() : encoder.latestAt;
      change(tail).tail = { bytes: encoder.bytes(), polls: encoder.polls, latestAt };
    }
    for (const state of batch.accounts)
      change(this.#tailOf(state.account)).body = JSON.stringify(accountToBody(state));
    const removed = batch.removedAccounts.map((account) => this.#tailOf(account));
    for (const tail of removed) change(tail).body = '';
    const forgottenSpending = removed.map(({ no }) => no);
    const spending = new Map(batch.spending.map(({ account, bytes }) => [this.#tailOf(account).no, bytes]));
    for (const no of forgottenSpending) spending.delete(no);
    const damaged = this.#damaged.of((id) => renewed.includes(id));
    for (const id of renewed) this.#renewed.delete(id);
    return { accounts: [...changes.values()], sealed, spending, forgottenSpending, damaged };
  }

  #tailOf(account: string): Tail {
    const tail = this.#tails.get(account);
    if (tail === undefined) throw new Error('an account of the batch was not looked up');
    return tail;
  }
}

function batchAccounts({ polls, accounts, spending, removedAccounts }: Batch): readonly string[] {
  const named = [...polls, ...accounts, ...spending].map(({ account }) => account);
  return [...new Set([...named, ...removedAccounts])];
}

/** The version of the runs: a database that 0.2 made may be taken over by a daemon of it again, which knows the first one alone. */
async function versionToWrite(ask: Ask): Promise<1 | 2> {
  const [first] = await ask<{ program: string }>('SELECT program FROM migration WHERE number = 1', []);
  return first?.program.startsWith('lowwater 0.2.') === true ? 1 : 2;
}

function seal(tail: Tail, writes: 1 | 2): Sealed {
  const { no, encoder } = tail;
  const { earliestAt, latestAt, polls } = encoder;
  const data = encoder.bytes();
  tail.encoder = new PollEncoder(null, writes);
  return { no, earliestAt, latestAt, polls, data };
}
