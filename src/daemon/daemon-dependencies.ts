import type { Secret } from '../domain/secret.ts';
import type { MonitorState } from '../engine/state.ts';
import type { Clock } from '../ports/clock.ts';
import type { DaemonMembership } from '../ports/cluster.ts';
import type { Log } from '../ports/log.ts';
import type { Store } from '../ports/store.ts';
import type { Committer } from './committer.ts';
import type { AcknowledgeLink } from './compose.ts';
import type { ConnectionDependencies, Connections } from './connections.ts';
import type { Counting } from './counting.ts';
import type { HistoryLoader } from './history-loader.ts';
import type { WakeTimer } from './steady-clock.ts';

/** Requests an external URL. Resolves to null if it answered well, else to the reason. Never rejects. */
export type Ping = (url: Secret, signal: AbortSignal) => Promise<string | null>;

export interface DaemonDependencies extends ConnectionDependencies {
  readonly store: Store;
  /** The configured and the stored state when this process became the owner. */
  readonly state: MonitorState;
  readonly clock: Clock;
  readonly log: Log;
  readonly ping: Ping;
  /** Returns null if nothing can be watched. The daemon then looks for orders each second, as it does if this is absent. */
  readonly watchDatabase?: (changed: () => void) => (() => void) | null;
  readonly acknowledgeUrl: (link: AcknowledgeLink) => string | null;
  /** Absent: this process owns the accounts as long as it lives. */
  readonly membership?: DaemonMembership;
  /** The counters of the process, which may become the owner several times. Absent: the daemon has its own. */
  readonly counting?: Counting;
  /** The longest sleep, because the command line may have left an order or the clock may have changed. Default: 1 s. */
  readonly maxSleepMs?: number;
}

export interface DaemonParts extends DaemonDependencies {
  readonly connections: Connections;
  readonly timer: WakeTimer;
  readonly committer: Committer;
  readonly historyLoader: HistoryLoader;
  /** The instant of the steady clock. */
  readonly now: () => number;
  /** Runs the work as a turn. */
  readonly act: <T>(work: (now: number) => T) => T;
}
