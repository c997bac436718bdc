import type { MonitorState } from '../engine/state.ts';
import type { Clock } from '../ports/clock.ts';
import type { Cluster, ClusterMember, MemberCard, PeerAnswer } from '../ports/cluster.ts';
import type { Log } from '../ports/log.ts';
import type { Store, StoredState } from '../ports/store.ts';

export interface MembershipDependencies {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly log: Log;
  readonly newIncarnation: () => string;
  /** The card of this process, as it is now. */
  readonly card: () => Pick<MemberCard, 'node' | 'advertise' | 'configHash'>;
  readonly leaseMs: number;
  /** The longest time that it goes on from memory. */
  readonly aloneForMs: number;
  /** The answers of these members, of those that answer. */
  readonly askPeers: (members: readonly ClusterMember[]) => Promise<readonly PeerAnswer[]>;
  /** Makes the owner's initial state from what is stored. `before`: the last owner, if it is known. */
  readonly restore: (stored: StoredState, before: ClusterMember | null) => Promise<MonitorState>;
  readonly begin: (owned: {
    readonly store: Store;
    readonly state: MonitorState;
    /** The node that had the accounts before and did not give them away; null if it did. */
    readonly takenFrom: string | null;
  }) => void;
  readonly abandon: () => void;
  /** Stores what is known while nothing new begins. `aheadMs`: how far this machine's clock is ahead of the one that counts. */
  readonly drain: (aheadMs: number) => Promise<void>;
  /** Called by an owner when something happened to the database. `happened`: a clause. */
  readonly happened?: (happened: string) => void;
  /** Called by an owner whose database was set back: all that it knows is stored again, whoever stored it first. Resolves once that is on its way. */
  readonly takenBack?: () => Promise<void> | undefined;
  /** Called after each look, and when this process took or lost the accounts: the status may have changed. */
  readonly looked?: () => void;
}
