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
  /** The answers of these, as far as they answer. */
  readonly askPeers: (members: readonly ClusterMember[]) => Promise<readonly PeerAnswer[]>;
  /** Makes of what is stored what the owner begins with. `before`: who owned the accounts last, as far as it is known. */
  readonly restore: (stored: StoredState, before: ClusterMember | null) => Promise<MonitorState>;
  readonly begin: (owned: {
    readonly store: Store;
    readonly state: MonitorState;
    /** The node that had the accounts before and did not give them away; null where it did. */
    readonly takenFrom: string | null;
  }) => void;
  readonly abandon: () => void;
  /** Stores what is known while nothing new begins, by the clock that counts where the own is ahead by so much. */
  readonly drain: (aheadMs: number) => Promise<void>;
  /** Called by an owner when something happened to the database; a clause. */
  readonly happened?: (happened: string) => void;
  /** Called by an owner whose database was taken back to an earlier moment: what it knows is to be stored again, whoever stored it first. Resolves when that is on its way. */
  readonly takenBack?: () => Promise<void> | undefined;
  /** Called after each look, and where this process took or lost the accounts: the status may be another one. */
  readonly looked?: () => void;
}
