import type { Alert, Incident } from '../domain/alert.ts';
import type { Notification } from '../domain/outbox.ts';
import type { AccountState, PollRecord, Reading } from '../domain/reading.ts';
import type { Silence } from '../domain/route.ts';

/** The wait of all accounts that share a secret, after `rate_limited`. */
export interface GroupBackoff {
  /** Named after one of its accounts: nothing of the secret is stored. */
  readonly group: string;
  readonly strikes: number;
  readonly until: number;
}

/** Knowledge of an account's spending, in bytes that only `spending/` reads. */
export interface StoredSpending {
  readonly account: string;
  readonly bytes: Uint8Array;
}

/** The work that a daemon did from memory and had not stored when it lost the accounts, at an instant. */
export interface Unstored extends Pick<Batch, 'polls' | 'incidents'> {
  readonly at: number;
  readonly orders: readonly LeftOrder[];
}

export interface FoundUnstored extends Unstored {
  /** The value of its note, for a note that holds only this rest. */
  readonly write: (rest: Unstored) => string;
}

/** Everything that changed since the last batch, stored in one transaction. */
export interface Batch {
  readonly polls: readonly { readonly account: string; readonly poll: PollRecord }[];
  readonly accounts: readonly AccountState[];
  readonly removedAccounts: readonly string[];
  readonly spending: readonly StoredSpending[];
  readonly backoffs: readonly GroupBackoff[];
  readonly alerts: readonly Alert[];
  readonly removedAlerts: readonly { readonly account: string; readonly rule: string }[];
  readonly incidents: readonly Incident[];
  readonly messages: readonly Notification[];
  /** Messages whose content went into another one. */
  readonly removedMessages: readonly string[];
  readonly silences: readonly Silence[];
  /** Small named values, such as when a report last went out. Null removes one. */
  readonly notes: Readonly<Record<string, string | null>>;
}

/** Stored polls of an account that were found damaged: kept as bytes, and never read as polls. */
export interface DamagedRun {
  readonly account: string;
  /** The time that the polls are of; null when it is not known. */
  readonly earliestAt: number | null;
  readonly latestAt: number | null;
  readonly polls: number;
  readonly foundAt: number;
}

/** A stored record that could not be read: kept as it was, and left out of everything else. */
export interface DamagedRecord {
  /** The table that it stood in. */
  readonly source: string;
  /** Its key there; empty: the whole table cannot be read. */
  readonly key: string;
  /** The second part of a key that has two. */
  readonly second: string | null;
  readonly body: string | null;
  /** A clause. */
  readonly reason: string;
  /** The instant since when it is not known what channels were notified of: when a message was created; for a log, the beginning of time. */
  readonly at?: number;
}

/** The note with the records that were set aside, kept until it is stored that people were notified: who finds the records may die before. */
export const untoldDamageNote = 'damage-untold';
/** The note with the last times that the clock was set back, the newest last, as `ClockSetBack[]`. */
export const setBackNote = 'set-back';

/** The clock was set from one instant back to another. What was dated in between before that happened before all that is dated so later. */
export type ClockSetBack = readonly [to: number, from: number];

/** The state that a daemon needs to continue. */
export interface StoredState
  extends Pick<Batch, 'accounts' | 'spending' | 'backoffs' | 'alerts' | 'silences'> {
  /** Open incidents, closed ones whose end some channel has not heard, and those of pending notifications. */
  readonly incidents: readonly Incident[];
  readonly messages: readonly Notification[];
  readonly notes: Readonly<Record<string, string>>;
  readonly damaged: readonly DamagedRun[];
  /** Records left out because they could not be read, and earlier ones of which nobody was notified. Default: none. */
  readonly damagedRecords?: readonly DamagedRecord[];
}

/** An order that waits in the database for the daemon: a JSON object that only `engine/orders.ts` reads. */
export type LeftOrder = Readonly<Record<string, unknown>>;

export interface HistoryQuery {
  readonly account: string;
  /** Inclusive. */
  readonly since: number;
  /** Exclusive. */
  readonly until: number;
  /** In the order of storage, not of time: the two differ when the clock was set back. */
  readonly asStored?: boolean;
  /**
   * By time, but times that came twice, because the clock was set back (`setBackNote`), only as they came last: for those who compare
   * readings with the ones before them.
   */
  readonly timesOnce?: boolean;
}

export interface IncidentQuery {
  readonly account?: string;
  readonly rule?: string;
  /** Incidents open at some time in [since, until). */
  readonly since?: number;
  readonly until?: number;
  readonly limit?: number;
}

/** Queries that any process may run, also while a daemon writes. Each ends within seconds, at worst with `StorageError`. */
export interface StoreReader {
  load(): Promise<StoredState>;
  /** Oldest first, hundreds or thousands at a time. A damaged run is left out, here and below. */
  readings(query: HistoryQuery): AsyncIterable<readonly Reading[]>;
  /** Oldest first, in chunks as `readings`. */
  polls(query: HistoryQuery): AsyncIterable<readonly PollRecord[]>;
  readingBefore(account: string, at: number): Promise<Reading | null>;
  /** Newest first. */
  incidents(query: IncidentQuery): Promise<readonly Incident[]>;
  /** The silences that people made and that are not over yet: soonest end first. */
  silences(notOverAt: number): Promise<readonly Silence[]>;
  /** Newest first; pending ones included. */
  messages(limit: number, before?: number): Promise<readonly Notification[]>;
  close(): Promise<void>;
}

export interface StoreFile extends StoreReader {
  /** Consistent copy of the live database. */
  backup(file: string): Promise<void>;
  /** Orders of which no daemon has stored the effect yet, oldest first; they stay. */
  leftOrders(): Promise<readonly LeftOrder[]>;
}

/** An integer that a number cannot hold exactly is a `bigint`. */
export type SqlValue = string | number | bigint | Uint8Array | null;

export type SqlAnswer =
  | {
      readonly kind: 'answer';
      readonly columns: readonly string[];
      /** Computed while they are read, over one snapshot of the database. Throws `OperatorError`. */
      readonly rows: Iterable<readonly SqlValue[]>;
    }
  /** Not a query, or one that names something that is not there. */
  | { readonly kind: 'refused'; readonly reason: string };

/** The database for SQL queries, with `reading` and `poll` as tables. */
export interface SqlFile {
  ask(sql: string): SqlAnswer;
  close(): void;
}

/** For the one daemon that holds it. Methods leave nothing half done, reject with `StorageError`, and run one at a time. */
export interface Store extends StoreFile {
  commit(batch: Batch): Promise<void>;
  /** Orders left since the last call, oldest first: the next commit that begins and succeeds deletes them. Cheap when there are none. */
  takeOrders(): Promise<readonly LeftOrder[]>;
  /** The work that daemons that lost the accounts did not store, by the name of its note, which a commit removes or writes with the rest. */
  takeUnstored(): Promise<ReadonlyMap<string, FoundUnstored>>;
  /** Damaged runs that commits have set aside since the last call. */
  takeDamaged(): readonly DamagedRun[];
  /** Deletes older records, a small step at a time; true when there is more to do. */
  prune(olderThan: number): Promise<boolean>;
}

/** A batch whose end is unknown is kept until its end is known; a batch that was stored, under any epoch, is not stored again. */
export interface FencedStore
  extends Pick<Store, 'commit' | 'takeOrders' | 'takeUnstored' | 'takeDamaged' | 'prune'> {
  /** The number of batches that the database is known to have of this owner's incarnation. */
  readonly stored: number;
  /** Resolves an unknown outcome by sending the batch again, unchanged. Rejects as `commit` does. */
  settle(): Promise<void>;
}
