import type { Secret } from '../domain/secret.ts';
import type { MonitorState } from '../engine/state.ts';
import type { Clock } from '../ports/clock.ts';
import type { ClusterProblem } from '../ports/cluster.ts';
import type { Log } from '../ports/log.ts';
import type { Store } from '../ports/store.ts';
import type { Committer } from './committer.ts';
import type { AcknowledgeLink } from './compose.ts';
import type { ConnectionDependencies, Connections } from './connections.ts';
import type { DaemonLog } from './daemon-log.ts';
import type { WakeTimer } from './wake-timer.ts';

/** Requests an external URL; resolves to whether it answered well. Never rejects. */
export type Ping = (url: Secret, signal: AbortSignal) => Promise<boolean>;

/** What a daemon is given by whoever starts it, and what it asks of a cluster that it may belong to. */
export interface DaemonDependencies extends ConnectionDependencies {
  readonly store: Store;
  /** The configured and the stored state when this process became the owner. */
  readonly state: MonitorState;
  readonly clock: Clock;
  readonly log: Log;
  readonly ping: Ping;
  readonly acknowledgeUrl: (link: AcknowledgeLink) => string | null;
  /** Called when a person hands the accounts over to another daemon. */
  readonly handOver?: () => void;
  /** Checked before each poll: whether this process owns the accounts now. Default: always. */
  readonly owns?: () => boolean;
  /** Checked before each send. Default: as `owns`. */
  readonly maySend?: () => boolean;
  /** Whether a group may be asked again before the last outcome is stored. Default: always. */
  readonly mayActUnpersisted?: () => boolean;
  /** What is wrong among the daemons that share the database. Default: nothing. */
  readonly clusterProblems?: () => readonly ClusterProblem[];
  /**
   * Wakes at least this often, because the command line may have left an order and the clock may have
   * changed. Default: 1 s.
   */
  readonly maxSleepMs?: number;
}

/** What the parts of a daemon share. */
export interface DaemonParts extends Pick<DaemonDependencies, 'state' | 'store' | 'clock' | 'log' | 'ping'> {
  readonly daemonLog: DaemonLog;
  readonly connections: Connections;
  readonly timer: WakeTimer;
  readonly committer: Committer;
  /** By the steady clock. */
  readonly now: () => number;
  /** Runs the work as a turn. */
  readonly act: <T>(work: (now: number) => T) => T;
}
