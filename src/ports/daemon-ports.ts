import type { Incident } from '../domain/alert.ts';
import type { Message } from '../domain/message.ts';
import type { OutboxMessage } from '../domain/outbox.ts';
import type { Outcome } from '../domain/outcome.ts';
import type { PollRecord, Reading } from '../domain/reading.ts';
import type { AccountSettings } from '../domain/settings.ts';
import type { Silence } from '../domain/silence.ts';
import type {
  Batch,
  Delivery,
  HistoryQuery,
  IncidentQuery,
  OperatorOrder,
  StoredState,
} from './domain-ports.ts';

/**
 * Asked at the instant at which a request would be sent: 0 lets it go and counts it, anything else is how many milliseconds
 * later it may ask again. Planning alone does not hold the guard: a new connection takes its time, a kept one none.
 */
export type SendingGuard = () => number;

/**
 * One balance request. Never rejects: every failure is an outcome. Aborting gives up at once with `network_error`. Every
 * sending asks the guard, also one that repeats a request which met a dead connection.
 */
export interface Provider {
  readBalance(account: AccountSettings, signal: AbortSignal, guard?: SendingGuard): Promise<Outcome>;
  close(): Promise<void>;
}

/** A place where messages go. Never rejects. */
export interface Channel {
  readonly name: string;
  /** Messages of an incident are one thread, and threads are told apart by their subject. */
  readonly threadsBySubject?: boolean;
  /** Draws the balances that its alerts are about: readings of days are gathered for it before it is given a message. */
  readonly drawsAlerts?: boolean;
  /** The least time between the starts of two messages. */
  readonly minGapMs: number;
  /** Channels with the same key share that time: they send to one receiver. A key may be a secret. */
  readonly paceKey?: string;
  send(message: Message, signal: AbortSignal): Promise<Delivery>;
  /** What would go out, as text and without any credential. */
  preview(message: Message): Promise<string>;
  close(): Promise<void>;
}

/**
 * Questions that any process may ask of the database, also while a daemon writes it. Newest first where it says so. Every
 * promise ends within seconds, with `StorageError` where the database does not answer.
 */
export interface StoreReader {
  load(): Promise<StoredState>;
  /** Oldest first, some hundreds or thousands at a time. */
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
  messages(limit: number, before?: number): Promise<readonly OutboxMessage[]>;
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
  /** Deletes what is older, a small step at a time; true when there is more to do. */
  prune(olderThan: number): Promise<boolean>;
}

/**
 * The database as one owner of the accounts that several daemons share writes it. A batch whose end is unknown is remembered until it is
 * known, and a batch that was stored, under whichever epoch of this process, is not stored again.
 */
export interface TenureStore extends Store {
  /** Finds out about the batch whose end is unknown, by sending it again as it is. Rejects as `commit` does. */
  settle(): Promise<void>;
}

/** A file or a folder that a configuration was made of, and what it held then. */
export interface WatchedSource {
  /** A digest. */
  readonly held: string;
  /** The digest of what it holds now. */
  look(): Promise<string>;
}

/** What a process says of itself to those that share its database. */
export interface MemberCard {
  /** A new one at each start, and after each time that another took its place. */
  readonly incarnation: string;
  readonly node: string;
  readonly advertise: string | null;
  readonly configHash: string;
}

export interface ClusterMember extends MemberCard {
  readonly program: string;
  /** By the clock of the database. */
  readonly expiresAt: number;
}

/** The living members and who owns the accounts, at one moment of the database's clock. */
export interface ClusterLook {
  /** The wall clock of the database, milliseconds since 1970. */
  readonly databaseNow: number;
  readonly members: readonly ClusterMember[];
  /** An incarnation; null where it is nobody's or its owner's lease is over: then it can be claimed. */
  readonly owner: string | null;
  /** Grows with each owner; 0 before the first. */
  readonly epoch: number;
  /** How many batches the owner of this epoch has stored; null where it has left. */
  readonly batch: number | null;
}

/** What several daemons on one database agree by. Every promise ends within seconds, with `StorageError` where it does not answer. */
export interface Cluster {
  /**
   * Makes or updates the tables; called, until it succeeds, before anything else. Of its errors `unfit` and `corrupt` are those that
   * waiting does not mend: a wrong password, a database that is not there, of another program or of a newer lowwater.
   */
  open(): Promise<void>;
  look(): Promise<ClusterLook>;
  /** Makes this process a member, for the length of a lease. */
  join(card: MemberCard): Promise<void>;
  /** Lengthens its lease unless it is over, and looks around. Not `renewed`: it has to become a new incarnation. */
  renew(card: MemberCard): Promise<ClusterLook & { readonly renewed: boolean }>;
  /**
   * Takes the accounts where nobody owns them and the own lease is not over: the new epoch. With `after` only where the epoch is still
   * that one, so that nobody has written since. Null where somebody was quicker.
   */
  claim(incarnation: string, after?: number): Promise<number | null>;
  /** Ends the membership at once: what it owned is free then. */
  leave(incarnation: string): Promise<void>;
  /** What an owner writes with. Whatever another owner has overtaken is refused by `StorageError` of kind `fenced`. */
  store(owner: { readonly incarnation: string; readonly epoch: number }): TenureStore;
  /** What any member reads with. */
  readonly reader: StoreFile;
  /** Leaves an order for the owner. */
  leaveOrder(order: OperatorOrder): Promise<void>;
  close(): Promise<void>;
}
