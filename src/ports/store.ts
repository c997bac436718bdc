import type { AccountState } from '../domain/account-state.ts';
import type { Alert, Incident } from '../domain/alert.ts';
import type { OperatorOrder } from '../domain/operator.ts';
import type { Notification } from '../domain/outbox.ts';
import type { PollRecord, Reading } from '../domain/reading.ts';
import type { Silence } from '../domain/silence.ts';

/** Waiting of a whole group of accounts that share a secret after `rate_limited`. */
export interface GroupBackoff {
  /** Named after one of its accounts: nothing of the secret is stored. */
  readonly group: string;
  readonly strikes: number;
  readonly until: number;
}

/** What is known of an account's spending, as bytes that only `spending/` reads. */
export interface StoredSpending {
  readonly account: string;
  readonly bytes: Uint8Array;
}

/** Everything that one turn of the daemon changed, stored in one transaction. Absent parts did not change. */
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
  /** Ids of messages whose content went into another one. */
  readonly removedMessages: readonly string[];
  readonly silences: readonly Silence[];
  /** Small named values: when a report last went out, when the daemon was last alive. Null removes one. */
  readonly notes: Readonly<Record<string, string | null>>;
}

/** Stored polls of an account that were found damaged: kept as bytes, and never read as polls. */
export interface DamagedRun {
  readonly account: string;
  /** The time that they are of; null where that is not known. */
  readonly earliestAt: number | null;
  readonly latestAt: number | null;
  readonly polls: number;
  readonly foundAt: number;
}

/** What a daemon needs to go on where the last one stopped. */
export interface StoredState {
  readonly accounts: readonly AccountState[];
  readonly spending: readonly StoredSpending[];
  readonly backoffs: readonly GroupBackoff[];
  readonly alerts: readonly Alert[];
  /**
   * Open incidents, closed ones of which a channel that was told has not been told the end, and those that a message
   * which waits speaks of.
   */
  readonly incidents: readonly Incident[];
  readonly messages: readonly Notification[];
  readonly silences: readonly Silence[];
  readonly notes: Readonly<Record<string, string>>;
  readonly damaged: readonly DamagedRun[];
}

export interface HistoryQuery {
  readonly account: string;
  /** Inclusive. */
  readonly since: number;
  /** Exclusive. */
  readonly until: number;
  /**
   * In the order in which they were stored instead of that of their times, for who has to live through them again. The
   * two differ where the clock was set back.
   */
  readonly asStored?: boolean;
}

export interface IncidentQuery {
  readonly account?: string;
  readonly rule?: string;
  /** Incidents that were open at some time in [since, until). */
  readonly since?: number;
  readonly until?: number;
  readonly limit?: number;
}

/**
 * Questions that any process may ask of the database, also while a daemon writes it. Newest first where it says so. Every
 * promise ends within seconds, with `StorageError` where the database does not answer.
 */
export interface StoreReader {
  load(): Promise<StoredState>;
  /** Oldest first, some hundreds or thousands at a time. A damaged run is left out, here and below. */
  readings(query: HistoryQuery): AsyncIterable<readonly Reading[]>;
  /** Every poll with its outcome, oldest first, as many at a time. */
  polls(query: HistoryQuery): AsyncIterable<readonly PollRecord[]>;
  /** The newest reading before an instant. */
  readingBefore(account: string, at: number): Promise<Reading | null>;
  /** Newest first. */
  incidents(query: IncidentQuery): Promise<readonly Incident[]>;
  incident(id: string): Promise<Incident | null>;
  /** Made by people, and not over at an instant: soonest end first. */
  silences(notOverAt: number): Promise<readonly Silence[]>;
  /** Newest first; pending ones included. */
  messages(limit: number, before?: number): Promise<readonly Notification[]>;
  close(): Promise<void>;
}

/** The database as any process may read it, and copy it. */
export interface StoreFile extends StoreReader {
  /** Consistent copy of the live database. */
  backup(file: string): Promise<void>;
}

export type SqlValue = string | number | Uint8Array | null;

export type SqlAnswer =
  | {
      readonly kind: 'answer';
      readonly columns: readonly string[];
      /** Made while they are taken; a snapshot of the database is held until the last. Throws `OperatorError`. */
      readonly rows: Iterable<readonly SqlValue[]>;
    }
  /** Not a query, or one that names what is not there. */
  | { readonly kind: 'refused'; readonly reason: string };

/** The database as whoever knows SQL may ask it, with `reading` and `poll` as tables. */
export interface SqlFile {
  ask(sql: string): SqlAnswer;
  close(): void;
}

/**
 * The database as the one daemon that holds it sees it. Every method rejects with `StorageError` when the disk does not
 * let it; nothing is half done then. Of these three the daemon has one under way at a time.
 */
export interface Store extends StoreFile {
  commit(batch: Batch): Promise<void>;
  /**
   * Orders left since the last call, oldest first. Each is given once, and forgotten by the first commit that begins after
   * that and succeeds. Cheap when nothing was left.
   */
  takeOrders(): Promise<readonly OperatorOrder[]>;
  /** What commits have set aside since the last call, because it was damaged: the polls of one account are no reason not to store the others. */
  takeDamaged(): readonly DamagedRun[];
  /** Deletes what is older, a small step at a time; true when there is more to do. */
  prune(olderThan: number): Promise<boolean>;
}

/**
 * The database as one owner of the accounts that several daemons share writes it. A batch whose end is unknown is remembered until it is
 * known, and a batch that was stored, under whichever epoch of this process, is not stored again.
 */
export interface FencedStore extends Store {
  /** Finds out about the batch whose end is unknown, by sending it again as it is. Rejects as `commit` does. */
  settle(): Promise<void>;
}
