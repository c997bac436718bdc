import type { HandOver } from '../domain/operator.ts';
import type {
  Batch,
  DamagedRecord,
  FencedStore,
  LeftOrder,
  StoredState,
  StoreFile,
  Unstored,
} from './store.ts';

/** The card by which a process is known to those that share its database. */
export interface MemberCard {
  /** A new one at each start, and each time after another process took its place. */
  readonly incarnation: string;
  readonly node: string;
  readonly advertise: string | null;
  readonly configHash: string;
  /** Its state at its last renewal; null when it is not known, as of a program of 0.2. */
  readonly status: {
    /** One for each process, the same over its incarnations. */
    readonly process: string;
    /** Milliseconds that its wall clock is ahead of the database's; null before it looked. */
    readonly skewMs: number | null;
    readonly polls: boolean;
    /** False when it has not stored what it does for the length of a lease: what is stored is not how the accounts are. Absent: true. */
    readonly stores?: boolean;
    /** When it first looked, by the clock of the database; null before. */
    readonly since: number | null;
  } | null;
}

export interface ClusterMember extends MemberCard {
  readonly program: string;
  /** An instant of the database's clock. */
  readonly expiresAt: number;
}

/** The living members and who owns the accounts, at one moment of the database's clock. */
export interface ClusterLook {
  /** The wall clock of the database, milliseconds since 1970. */
  readonly databaseNow: number;
  readonly members: readonly ClusterMember[];
  /** An incarnation; null when nobody owns the accounts, or the owner's lease is over: then they can be claimed. */
  readonly owner: string | null;
  /** The node of an owner whose lease is over although it did not give the accounts away; null when there is none. */
  readonly lapsedOwner: string | null;
  /** Set when an owner has not renewed its lease for the lease's own length, though it ends in the future: that end. */
  readonly overdue?: number;
  /** Grows with each owner; 0 before the first. */
  readonly epoch: number;
  /** The number of batches that the owner of this epoch has stored; null when it has left. */
  readonly batch: number | null;
  /** The server that answered; null when it does not say which it is. */
  readonly origin: DatabaseOrigin | null;
}

/** A database server and the history (timeline) that it follows: a standby that was promoted begins a new timeline. */
export interface DatabaseOrigin {
  readonly system: string;
  readonly timeline: number;
}

/** A daemon's answer at its address. If its machine says that nobody listens there, it has nothing and reaches nothing. */
export interface PeerAnswer extends Pick<ClusterStatus, 'node' | 'reachesDatabase' | 'origin'> {
  readonly owns: boolean;
  /** The epoch under which it has the accounts, whether it polls them already or reads what is stored; null when it has not. */
  readonly takenUnder: number | null;
}

export interface ClaimCondition {
  /** Only if the epoch is still this one, so that nobody has written since. */
  readonly after?: number;
  /** The new epoch is above this one too, because a database that lost its last commits does not know of it. */
  readonly above?: number;
  /** The owner's lease counts for nothing if it still ends at this instant. */
  readonly overdue?: number | undefined;
}

/** An incarnation while it owns the accounts. */
export interface Owner {
  readonly incarnation: string;
  readonly epoch: number;
}

export interface LoadOptions {
  /** Called after a failure that may pass. Waits a little, and tells whether to ask for the same again. */
  readonly goOn: () => Promise<boolean>;
  /** Called after each part that could be read. */
  readonly progressed?: () => void;
  /** Whether a table that is damaged as a whole counts as empty, and is named in `damagedRecords`: otherwise nobody could own the accounts. */
  readonly isLenient: boolean;
}

/** The agreement of several daemons on one database. Every promise ends within seconds, with `StorageError` if the database does not answer. */
export interface Cluster {
  /**
   * Makes or updates the tables; called before anything else, until it succeeds. Its errors `unfit` and `corrupt` do not pass by
   * waiting: a wrong password, or a database that is not there, of another program or of a newer lowwater.
   */
  open(): Promise<void>;
  look(): Promise<ClusterLook>;
  /** May be called again if its end is not known. `gone`: earlier incarnations, which end and free what they owned. */
  join(card: MemberCard, gone?: readonly string[]): Promise<void>;
  /** Lengthens the lease unless it is over, and looks around. If it is not `renewed`, the process has to become a new incarnation. */
  renew(card: MemberCard): Promise<ClusterLook & { readonly renewed: boolean }>;
  /** Takes the accounts if nobody owns them and the own lease lives; gives the new epoch. Null if somebody was quicker. */
  claim(incarnation: string, condition?: ClaimCondition): Promise<number | null>;
  /** Ends connections of daemons that kept a lock for a lease: their processes are gone, and the server still waits for a standby. */
  endStuck(): Promise<void>;
  /** Batches that this process stored last and the database does not have (any more), oldest first; called once for each loss. */
  takeLost(): Promise<readonly Batch[]>;
  /** Ends the membership; what it owned is free at once, and orders to hand the accounts over are carried out by that. */
  leave(incarnation: string): Promise<void>;
  /** Loads for the owner, while nobody else writes: a load that is interrupted resumes. */
  load(options: LoadOptions): Promise<StoredState>;
  /** Moves records that could not be read to a table of their own; rejects with `fenced` as the store does. */
  setAside(owner: Owner, records: readonly DamagedRecord[]): Promise<void>;
  /** The store of an owner that has already stored this many batches (0). An overtaken owner's writes are refused as `fenced`. */
  store(owner: Owner, alreadyStored?: number): FencedStore;
  readonly reader: StoreFile;
  /** Tells others what a configuration consists of, so that they can say what differs. */
  publishConfiguration(hash: string, parts: string): Promise<void>;
  /** The parts of these configurations, by hash, as far as their daemons have said so. */
  configurations(hashes: readonly string[]): Promise<ReadonlyMap<string, string>>;
  leaveOrder(order: LeftOrder): Promise<void>;
  /** Leaves for the owner what this process did not store while it had the accounts; only once under the same id. */
  leaveUnstored(id: string, unstored: Unstored): Promise<void>;
  close(): Promise<void>;
}

export type Role =
  /** Not connected to the database yet, or just became another incarnation. */
  | 'joining'
  | 'standby'
  /** Owns the accounts and reads what is stored of them. */
  | 'loading'
  | 'owner'
  /** Continues from memory, because nobody reaches the database. */
  | 'alone';

/** Whether a process of this role acts for the accounts: processes of other roles leave orders for it. */
export function actsForAccounts(role: Role): boolean {
  return role === 'owner' || role === 'alone';
}

/** The daemon that polls the accounts, as far as a process knows. */
export interface ClusterPolling {
  readonly who: 'this' | 'other' | 'nobody' | 'unknown';
  /** The name of the other node; null when no other node polls. */
  readonly node: string | null;
  /** Milliseconds since 1970, by the wall clock of this process. */
  readonly since: number;
}

/** Problems of the fleet as a whole: one of each is reported at a time. */
export type ClusterAspect = 'clock' | 'doubt' | 'configuration' | 'split';

/** A problem of the fleet as a whole of which people are to hear. */
export interface ClusterProblem {
  readonly aspect: ClusterAspect;
  readonly severity: 'warning' | 'critical';
  /** A sentence. */
  readonly text: string;
}

export interface DaemonMembership {
  /** Checked before each poll: whether this process owns the accounts now. */
  mayPoll(): boolean;
  /** Checked before each send. */
  maySend(): boolean;
  /** Whether a group may be asked again before the last outcome is stored. */
  mayActUnpersisted(): boolean;
  /** Resolves once the database has said who owns the accounts, or does not answer; at once while the lease lasts. */
  confirmOwnership(): Promise<void>;
  /** Called when a person hands the accounts over to another daemon. */
  handOver(order: HandOver): Promise<void>;
  /** Problems among the daemons that share the database. */
  readonly clusterStatus: Pick<ClusterStatus, 'alerts' | 'undecided'>;
}

export interface ClusterStatus {
  readonly role: Role;
  readonly polling: ClusterPolling;
  /** False when this process should poll and cannot, or does not know the accounts yet. */
  readonly ready: boolean;
  readonly node: string;
  /** Null when nobody owns the accounts, or that is not known. */
  readonly owner: ClusterMember | null;
  readonly epoch: number | null;
  readonly takeovers: number;
  readonly reachesDatabase: boolean;
  /** The server that answered last; null when it does not say which it is. */
  readonly origin: DatabaseOrigin | null;
  /** Whether its configuration is the owner's; null when no owner is known. */
  readonly sameConfiguration: boolean | null;
  readonly problems: readonly string[];
  /** The problems that the owner reports on the channels. */
  readonly alerts: readonly ClusterProblem[];
  /** The aspects of which it is not known whether anything is wrong: what was reported about them is not over. */
  readonly undecided: readonly ClusterAspect[];
}
