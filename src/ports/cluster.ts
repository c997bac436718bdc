import type { OperatorOrder } from '../domain/operator.ts';
import type { FencedStore, StoreFile } from './store.ts';

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
  /** Makes this process a member for the length of a lease. */
  join(card: MemberCard): Promise<void>;
  /** Lengthens its lease unless it is over, and looks around. Not `renewed`: it has to become a new incarnation. */
  renew(card: MemberCard): Promise<ClusterLook & { readonly renewed: boolean }>;
  /**
   * Takes the accounts where nobody owns them and the own lease is not over: the new epoch. With `after` only where the epoch is still
   * that one, so that nobody has written since. Null where somebody was quicker.
   */
  claim(incarnation: string, after?: number): Promise<number | null>;
  /** Ends the membership; what it owned is free at once. */
  leave(incarnation: string): Promise<void>;
  /** The store of an owner. Writes of an overtaken owner are refused by `StorageError` of kind `fenced`. */
  store(owner: { readonly incarnation: string; readonly epoch: number }): FencedStore;
  readonly reader: StoreFile;
  leaveOrder(order: OperatorOrder): Promise<void>;
  close(): Promise<void>;
}

/** The role of a process that shares its database. */
export type Role =
  /** Not connected to the database yet, or just became another incarnation. */
  | 'joining'
  | 'standby'
  /** Owns the accounts and reads what is stored of them. */
  | 'loading'
  | 'owner'
  /** Continues from memory, because nobody reaches the database. */
  | 'alone';

export interface ClusterStatus {
  readonly role: Role;
  readonly node: string;
  /** Null where nobody owns the accounts, or that is not known. */
  readonly owner: ClusterMember | null;
  readonly epoch: number | null;
  readonly takeovers: number;
  readonly reachesDatabase: boolean;
  /** Whether its configuration is the owner's; null where no owner is known. */
  readonly sameConfiguration: boolean | null;
  readonly problems: readonly string[];
}
