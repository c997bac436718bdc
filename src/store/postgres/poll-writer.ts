import type { Batch } from '../../ports/store.ts';
import { accountToBody } from '../account-body.ts';
import { PollEncoder } from '../runs/poll-codec.ts';
import { isFull } from '../runs/tail.ts';
import { textArray } from './binary-array.ts';
import type { Ask } from './connection.ts';

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
}

interface Tail {
  readonly no: number;
  encoder: PollEncoder;
}

interface TailRow {
  readonly no: number;
  readonly id: string;
  readonly tail: Buffer | null;
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
  readonly #tails = new Map<string, Tail>();

  constructor(ask: Ask, create: (ids: readonly string[]) => Promise<readonly TailRow[]>) {
    this.#ask = ask;
    this.#create = create;
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
  }

  async #readTails({ polls, accounts, spending, removedAccounts }: Batch): Promise<void> {
    const named = [...polls, ...accounts, ...spending].map(({ account }) => account);
    const unknown = [...new Set([...named, ...removedAccounts])].filter((id) => !this.#tails.has(id));
    for (let from = 0; from < unknown.length; from += tailsAtOnce) {
      const ids = unknown.slice(from, from + tailsAtOnce);
      const found = await this.#ask<TailRow>('SELECT no, id, tail FROM account WHERE id = ANY($1::text[])', [
        textArray(ids),
      ]);
      const known = new Set(found.map(({ id }) => id));
      const missing = ids.filter((id) => !known.has(id));
      const created = missing.length === 0 ? [] : await this.#create(missing);
      for (const { id, no, tail } of [...found, ...created])
        this.#tails.set(id, { no, encoder: new PollEncoder(tail) });
    }
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
      if (isFull(tail.encoder, poll.at)) sealed.push(seal(tail));
      tail.encoder.append(poll);
      grown.add(tail);
    }
    for (const tail of grown) {
      const { encoder } = tail;
      change(tail).tail = { bytes: encoder.bytes(), polls: encoder.polls, latestAt: encoder.latestAt };
    }
    for (const state of batch.accounts)
      change(this.#tailOf(state.account)).body = JSON.stringify(accountToBody(state));
    const removed = batch.removedAccounts.map((account) => this.#tailOf(account));
    for (const tail of removed) change(tail).body = '';
    const forgottenSpending = removed.map(({ no }) => no);
    const spending = new Map(batch.spending.map(({ account, bytes }) => [this.#tailOf(account).no, bytes]));
    for (const no of forgottenSpending) spending.delete(no);
    return { accounts: [...changes.values()], sealed, spending, forgottenSpending };
  }

  #tailOf(account: string): Tail {
    const tail = this.#tails.get(account);
    if (tail === undefined) throw new Error('an account of the batch was not looked up');
    return tail;
  }
}

function seal(tail: Tail): Sealed {
  const { no, encoder } = tail;
  const { earliestAt, latestAt, polls } = encoder;
  const data = encoder.bytes();
  tail.encoder = new PollEncoder();
  return { no, earliestAt, latestAt, polls, data };
}
