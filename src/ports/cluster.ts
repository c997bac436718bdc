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
  /** A new one at each start, and after each time that another took its place. */
  readonly incarnation: string;
  readonly node: string;
  readonly advertise: string | null;
  readonly configHash: string;
  /** Its state at its last renewal; null: not known, as of a program of 0.2. */
  readonly status: {
    /** One for each process, over its incarnations. */
    readonly process: string;
    /** Milliseconds that its wall clock is ahead of the database's; null before it looked. */
    readonly skewMs: number | null;
    readonly polls: boolean;
    /** False where it has not stored what it does for a lease: what is stored is not how the accounts are. Absent: true. */
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
  /** An incarnation; null where it is nobody's or its owner's lease is over: then it can be claimed. */
  readonly owner: string | null;
  /** The node of an owner whose lease is over though it did not give the accounts away; null where there is none. */
  readonly lapsedOwner: string | null;
  /** The end of the lease of an owner that has not renewed it for its own length, though it lies in the future; absent where there is none. */
  readonly overdue?: number;
  /** Grows with each owner; 0 before the first. */
  readonly epoch: number;
  /** The number of batches that the owner of this epoch has stored; null where it has left. */
  readonly batch: number | null;
  /** Which server it is; null where it does not say. */
  readonly origin: DatabaseOrigin | null;
}

/** A database server and which of its histories it goes by: a standby that was promoted begins a new timeline. */
export interface DatabaseOrigin {
  readonly system: string;
  readonly timeline: number;
}

/** A daemon's answer at its address. Where its machine says that nobody listens there, it has nothing and reaches nothing. */
export interface PeerAnswer extends Pick<ClusterStatus, 'node' | 'reachesDatabase' | 'origin'> {
  readonly owns: boolean;
  /** The epoch under which it has the accounts, polls them already or reads what is stored; null where it has not. */
  readonly takenUnder: number | null;
}

export interface ClaimCondition {
  /** Only where the epoch is still this one, so that nobody has written since. */
  readonly after?: number;
  /** The new epoch is above this one too, which a database that lost its last commits does not know of. */
  readonly above?: number;
  /** The owner's lease counts for nothing while it ends at this instant. */
  readonly overdue?: number | undefined;
}

/** An incarnation while it owns the accounts. */
export interface Owner {
  readonly incarnation: string;
  readonly epoch: number;
}

export interface LoadOptions {
  /** Asked after a failure that may pass, and waits a little: whether to ask for the same again. */
  readonly goOn: () => Promise<boolean>;
  /** Called after what could be read. */
  readonly progressed?: () => void;
  /** Whether a table that is damaged as a whole is taken for empty, and named in `damagedRecords`: nobody could own the accounts otherwise. */
  readonly isLenient: boolean;
}

/** The agreement of several daemons on one database. Every promise ends within seconds, with `StorageError` where it does not answer. */
export interface Cluster {
  /**
   * Makes or updates the tables; called, until it succeeds, before anything else. Of its errors `unfit` and `corrupt` are those that
   * waiting does not mend: a wrong password, a database that is not there, of another program or of a newer lowwater.
   */
  open(): Promise<void>;
  look(): Promise<ClusterLook>;
  /** May be called again where its end is not known. `gone`: earlier incarnations, which end and free what they owned. */
  join(card: MemberCard, gone?: readonly string[]): Promise<void>;
  /** Lengthens its lease unless it is over, and looks around. Not `renewed`: it has to become a new incarnation. */
  renew(card: MemberCard): Promise<ClusterLook & { readonly renewed: boolean }>;
  /** Takes the accounts where they are nobody's and the own lease lives: the new epoch. Null where somebody was quicker. */
  claim(incarnation: string, condition?: ClaimCondition): Promise<number | null>;
  /** Ends connections of daemons that have kept a lock for a lease: their processes are gone, and the server waits on for a standby. */
  endStuck(): Promise<void>;
  /** Batches that this process stored last and the database has not (any more), oldest first; called once for each loss. */
  takeLost(): Promise<readonly Batch[]>;
  /** Ends the membership; what it owned is free at once, and orders to hand it over are carried out by that. */
  leave(incarnation: string): Promise<void>;
  /** Loads for the owner, while nobody else writes: a load that is interrupted resumes. */
  load(options: LoadOptions): Promise<StoredState>;
  /** Moves records that could not be read to a table of their own; `fenced` as the store. */
  setAside(owner: Owner, records: readonly DamagedRecord[]): Promise<void>;
  /** The store of an owner that has stored so many batches already (0). An overtaken owner's writes are refused as `fenced`. */
  store(owner: Owner, alreadyStored?: number): FencedStore;
  readonly reader: StoreFile;
  /** Lets others know what a configuration consists of, so that they can say what differs. */
  publishConfiguration(hash: string, parts: string): Promise<void>;
  /** The parts of these configurations, by hash, as far as their daemons have said so. */
  configurations(hashes: readonly string[]): Promise<ReadonlyMap<string, string>>;
  leaveOrder(order: LeftOrder): Promise<void>;
  /** Leaves for the owner what this process did not store while it had the accounts; under the same id it stands once. */
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

/** Whether a process of this role acts for the accounts: others leave orders for it. */
export function actsForAccounts(role: Role): boolean {
  return role === 'owner' || role === 'alone';
}

/** The daemon that polls the accounts, as far as a process knows. */
export interface ClusterPolling {
  readonly who: 'this' | 'other' | 'nobody' | 'unknown';
  /** The name of the other; null where it is no other. */
  readonly node: string | null;
  /** Milliseconds since 1970, by the wall clock of this process. */
  readonly since: number;
}

/** Problems of the fleet as a whole: one of each is reported at a time. */
export type ClusterAspect = 'clock' | 'doubt' | 'configuration' | 'split';

/** Something wrong with the fleet as a whole, that people are to hear of. */
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
  /** Resolves once the database has said whose the accounts are, or does not answer: at once while its lease lasts. */
  confirmOwnership(): Promise<void>;
  /** Called when a person hands the accounts over to another daemon. */
  handOver(order: HandOver): Promise<void>;
  /** Problems among the daemons that share the database. */
  readonly clusterStatus: Pick<ClusterStatus, 'alerts' | 'undecided'>;
}

export interface ClusterStatus {
  readonly role: Role;
  readonly polling: ClusterPolling;
  /** False where this process should poll and cannot, or does not know the accounts yet. */
  readonly ready: boolean;
  readonly node: string;
  /** Null where nobody owns the accounts, or that is not known. */
  readonly owner: ClusterMember | null;
  readonly epoch: number | null;
  readonly takeovers: number;
  readonly reachesDatabase: boolean;
  /** The server that answered last; null where it does not say which it is. */
  readonly origin: DatabaseOrigin | null;
  /** Whether its configuration is the owner's; null where no owner is known. */
  readonly sameConfiguration: boolean | null;
  readonly problems: readonly string[];
  /** Those of them that the owner reports on the channels. */
  readonly alerts: readonly ClusterProblem[];
  /** The aspects of which it does not know whether anything is wrong: what was reported of them is not over. */
  readonly undecided: readonly ClusterAspect[];
}
