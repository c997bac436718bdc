import type { AccountState } from '../../domain/account-state.ts';
import type { PollRecord } from '../../domain/reading.ts';
import type { StoredSpending } from '../../ports/store.ts';
import { accountToBody } from '../account-body.ts';
import { PollEncoder } from '../runs/poll-codec.ts';
import { resumeRun, unlessDamaged } from '../runs/stored-run.ts';
import { isFull } from '../runs/tail.ts';
import type { Connection } from './connection.ts';
import type { DamagedRuns } from './damaged-runs.ts';

interface TailRow {
  readonly no: number;
  readonly tail: Buffer | null;
  readonly polls: number;
  readonly latestAt: number | null;
}

interface Tail {
  readonly no: number;
  encoder: PollEncoder;
}

/**
 * Writes polls and account states, inside a transaction of the caller's. It keeps each account's tail in memory, as the
 * database has it; after a transaction that failed, `forget` makes it read them again.
 */
export class PollWriter {
  readonly #statements: ReturnType<typeof prepareStatements>;
  readonly #damaged: DamagedRuns;
  readonly #tails = new Map<string, Tail>();

  constructor(db: Connection, damaged: DamagedRuns) {
    this.#statements = prepareStatements(db);
    this.#damaged = damaged;
  }

  /** Appends the polls and replaces the states. One row is written per account, whatever the batch says of it. */
  write(
    polls: readonly { readonly account: string; readonly poll: PollRecord }[],
    states: readonly AccountState[],
  ): void {
    const grown = new Set<Tail>();
    for (const { account, poll } of polls) {
      const tail = this.#tailOf(account);
      if (isFull(tail.encoder, poll.at)) this.#seal(tail);
      tail.encoder.append(poll);
      grown.add(tail);
    }
    for (const state of states) {
      const tail = this.#tailOf(state.account);
      const body = JSON.stringify(accountToBody(state));
      if (grown.delete(tail)) this.#statements.updateBoth.run(body, ...tailColumns(tail));
      else this.#statements.updateBody.run(body, tail.no);
    }
    for (const tail of grown) this.#statements.updateTail.run(...tailColumns(tail));
  }

  /** Replaces what is known of the spending of accounts. */
  writeSpending(spending: readonly StoredSpending[]): void {
    for (const { account, bytes } of spending) {
      this.#statements.writeSpending.run(this.#tailOf(account).no, bytes);
    }
  }

  /** An account that is no longer configured: its state goes, what was learned of it too, its polls stay. */
  removeState(account: string): void {
    this.#statements.removeState.run(account);
    this.#statements.removeSpending.run(account);
    this.#tails.delete(account);
  }

  /** The tails in memory may differ from the database: the next write reads them again. */
  forget(): void {
    this.#tails.clear();
  }

  #tailOf(account: string): Tail {
    const known = this.#tails.get(account);
    if (known !== undefined) return known;
    const row = this.#statements.find.get(account);
    const no = row?.no ?? Number(this.#statements.create.run(account).lastInsertRowid);
    const tail = { no, encoder: this.#encoderOf(account, row) };
    this.#tails.set(account, tail);
    return tail;
  }

  /** Goes on with the stored tail; a damaged one is set aside, and the account begins another. */
  #encoderOf(account: string, row: TailRow | undefined): PollEncoder {
    const { tail = null, polls = 0, latestAt = null } = row ?? {};
    return unlessDamaged(
      () => resumeRun(tail, polls),
      (error) => {
        this.#damaged.moveTail({ account, seq: null, earliestAt: null, latestAt, polls, error });
        return new PollEncoder();
      },
    );
  }

  #seal(tail: Tail): void {
    const { encoder } = tail;
    this.#statements.seal.run(tail.no, encoder.earliestAt, encoder.latestAt, encoder.polls, encoder.bytes());
    tail.encoder = new PollEncoder();
  }
}

function prepareStatements(db: Connection) {
  return {
    find: db.prepare<[string], TailRow>(
      'SELECT no, tail, tail_polls AS polls, tail_latest_at AS latestAt FROM account WHERE id = ?',
    ),
    create: db.prepare<[string]>('INSERT INTO account (id) VALUES (?)'),
    updateBoth: db.prepare(
      'UPDATE account SET body = ?, tail = ?, tail_polls = ?, tail_latest_at = ? WHERE no = ?',
    ),
    updateBody: db.prepare('UPDATE account SET body = ? WHERE no = ?'),
    updateTail: db.prepare('UPDATE account SET tail = ?, tail_polls = ?, tail_latest_at = ? WHERE no = ?'),
    removeState: db.prepare<[string]>('UPDATE account SET body = NULL WHERE id = ?'),
    writeSpending: db.prepare(
      'INSERT INTO spending (account_no, state) VALUES (?, ?) ON CONFLICT DO UPDATE SET state = excluded.state',
    ),
    removeSpending: db.prepare<[string]>(
      'DELETE FROM spending WHERE account_no = (SELECT no FROM account WHERE id = ?)',
    ),
    seal: db.prepare(
      'INSERT INTO segment (account_no, earliest_at, latest_at, polls, data) VALUES (?, ?, ?, ?, ?)',
    ),
  };
}

function tailColumns({ no, encoder }: Tail): readonly [Uint8Array, number, number, number] {
  return [encoder.bytes(), encoder.polls, encoder.latestAt, no];
}
