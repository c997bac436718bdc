import { dayMs } from '../../domain/time.ts';
import type { Batch } from '../../ports/store.ts';
import type { Row } from '../asking.ts';
import { accountToBody } from '../bodies.ts';
import { PollEncoder } from './poll-codec.ts';
import { type DamagedRuns, type FoundRun, resumeRun, unlessDamaged } from './stored-run.ts';

/** The largest tail: a longer one moves to `segment`. Four rows of this size fill a page of 4096 bytes (bench/storage.ts). */
const sealBytes = 950;

/** The longest span of a segment, so that retention can delete old polls even of accounts polled once a day. */
const maxSpanMs = 30 * dayMs;

export interface AccountRows {
  /** [body, tail, tail_polls, tail_latest_at, no]: null leaves a column as it is, an empty body removes the state. */
  readonly accounts: readonly Row[];
  /** Full runs, as rows of `segment`. */
  readonly sealed: readonly Row[];
  readonly spending: readonly Row[];
  readonly forgottenSpending: readonly Row[];
  readonly damaged: readonly FoundRun[];
}

/** The newest polls of an account as they are stored. */
export interface TailRow {
  readonly no: number;
  readonly id: string;
  readonly tail: Uint8Array | null;
  readonly polls: number;
  readonly latestAt: number | null;
}

interface Tail {
  readonly no: number;
  encoder: PollEncoder;
}

type AccountRow = [
  body: string | null,
  tail: Uint8Array | null,
  polls: number | null,
  latestAt: number | null,
  no: number,
];

/**
 * Makes rows of polls and account states. It keeps each account's tail in memory as the database will have it. If a batch was
 * not stored, call `forget`: the tails are read again.
 */
export class AccountTails {
  readonly #damaged: DamagedRuns;
  readonly #tails = new Map<string, Tail>();
  /** Accounts that begin a new tail because the stored one is damaged. */
  readonly #renewed = new Set<string>();
  #writes: 1 | 2 = 2;
  /** Whether any stored tail could be read. */
  #hasRead = false;

  constructor(damaged: DamagedRuns) {
    this.#damaged = damaged;
  }

  /** The accounts of a batch whose tails have to be added before its rows are made. */
  unknownOf(batch: Batch): readonly string[] {
    return accountsOf(batch, (id) => !this.#tails.has(id));
  }

  /** Continues with stored tails. A damaged one is set aside, and its account begins a new one. `writes`: the version of runs. */
  add(rows: readonly TailRow[], writes: 1 | 2 = 2): void {
    this.#writes = writes;
    for (const { no, id, tail, polls, latestAt } of rows) {
      const encoder = unlessDamaged(
        () => {
          const resumed = resumeRun(tail, polls, writes);
          this.#hasRead ||= tail !== null;
          return resumed;
        },
        ({ message }) => {
          const data = tail ?? new Uint8Array();
          const where = { account: id, seq: null, earliestAt: null, latestAt };
          this.#damaged.note({ ...where, polls, data, reason: message });
          this.#renewed.add(id);
          return new PollEncoder(null, writes);
        },
      );
      this.#tails.set(id, { no, encoder });
    }
  }

  /** Whether all stored tails are damaged: that looks like a fault of reading. */
  get hasReadNone(): boolean {
    return this.#renewed.size > 0 && !this.#hasRead;
  }

  /** Throws RangeError for polls that could not be read back exactly. */
  rowsOf(batch: Batch): AccountRows {
    try {
      return this.#makeRows(batch);
    } catch (error) {
      this.forget();
      throw error;
    }
  }

  /** Called when the tails in memory may differ from the database. */
  forget(): void {
    this.#tails.clear();
    this.#renewed.clear();
  }

  #makeRows(batch: Batch): AccountRows {
    const accounts = new Map<Tail, AccountRow>();
    const rowOf = (tail: Tail): AccountRow => {
      const row = accounts.get(tail) ?? [null, null, null, null, tail.no];
      accounts.set(tail, row);
      return row;
    };
    const sealed: Row[] = [];
    const grown = new Set<Tail>();
    for (const { account, poll } of batch.polls) {
      const tail = this.#tailOf(account);
      if (isFull(tail.encoder, poll.at)) sealed.push(this.#seal(tail));
      tail.encoder.append(poll);
      grown.add(tail);
    }
    const renewed = new Set(
      this.#renewed.size === 0 ? [] : accountsOf(batch, (id) => this.#renewed.delete(id)),
    );
    for (const id of renewed) grown.add(this.#tailOf(id));
    for (const tail of grown) {
      const { encoder } = tail;
      // An empty tail holds nothing that retention could delete.
      const latestAt = encoder.polls === 0 ? this.#damaged.now() : encoder.latestAt;
      const row = rowOf(tail);
      row[1] = encoder.bytes();
      row[2] = encoder.polls;
      row[3] = latestAt;
    }
    for (const state of batch.accounts)
      rowOf(this.#tailOf(state.account))[0] = JSON.stringify(accountToBody(state));
    const removed = batch.removedAccounts.map((account) => this.#tailOf(account));
    for (const tail of removed) rowOf(tail)[0] = '';
    const forgotten = new Set(removed.map(({ no }) => no));
    const spending = batch.spending.map(({ account, bytes }) => [this.#tailOf(account).no, bytes] as const);
    return {
      accounts: [...accounts.values()],
      sealed,
      spending: spending.filter(([no]) => !forgotten.has(no)),
      forgottenSpending: [...forgotten].map((no) => [no]),
      damaged: this.#damaged.of((id) => renewed.has(id)),
    };
  }

  #seal(tail: Tail): Row {
    const { no, encoder } = tail;
    tail.encoder = new PollEncoder(null, this.#writes);
    return [no, encoder.earliestAt, encoder.latestAt, encoder.polls, encoder.bytes()];
  }

  #tailOf(account: string): Tail {
    const tail = this.#tails.get(account);
    if (tail === undefined) throw new Error('an account of the batch was not looked up');
    return tail;
  }
}

function accountsOf(batch: Batch, isWanted: (id: string) => boolean): readonly string[] {
  const wanted = new Set<string>();
  for (const named of [batch.polls, batch.accounts, batch.spending])
    for (const { account } of named) if (isWanted(account)) wanted.add(account);
  for (const account of batch.removedAccounts) if (isWanted(account)) wanted.add(account);
  return [...wanted];
}

/**
 * Whether a run is to be sealed before a poll at `nextAt`. A poll earlier than the last one (the clock was set back) begins a new
 * run, so that each run is in order and the history can be merged run by run.
 */
function isFull(encoder: PollEncoder, nextAt: number): boolean {
  if (encoder.polls === 0) return false;
  return (
    encoder.byteLength > sealBytes || nextAt < encoder.latestAt || nextAt - encoder.earliestAt > maxSpanMs
  );
}
