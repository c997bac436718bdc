import type { Daemon } from '../../src/daemon/daemon.ts';
import type { Batch } from '../../src/domain/ports.ts';
import type { LiveViews } from '../../src/views/views.ts';

export interface Timer {
  cancel: () => void;
  dueAt: number;
  readonly fire: () => void;
  /** Whether it goes by the slow clock of leases. */
  readonly ofLease: boolean;
}

/** A request or a message whose answer is awaited. */
export interface InFlight {
  readonly signal: AbortSignal;
  readonly abort: () => void;
}

/** The work of one daemon in a process: while the process lives, or while it owns what it shares with others. */
export class Tenure {
  daemon: Daemon | null = null;
  views: LiveViews | null = null;
  /** It began, and nobody has taken its place: the model believes what it does. */
  watched = false;
  /** It ends properly. */
  stopping = false;
  /** It may do nothing any more. */
  over = false;
  /** Since when its changes are not stored, or may not have been; null while they are. */
  failingSince: number | null = null;
  /** The batch of which it has not heard whether it is stored. */
  unsettled: Batch | null = null;
}

/** One process, from its start to its end. */
export class Life {
  readonly number: number;
  readonly bornAt: number;
  dead = false;
  stopping = false;
  tenure: Tenure | null = null;
  /** Ends it as SIGTERM does. */
  end: () => Promise<void> = async () => undefined;
  doom: { calls: number; readonly downMs: number } | null = null;
  commitDoom: { readonly when: 'before' | 'after'; readonly downMs: number } | null = null;
  /** It was about to do something while its lease had ended, and looks again soon. */
  looksAgain = false;
  readonly timers = new Set<Timer>();
  readonly flights = new Set<InFlight>();

  constructor(number: number, bornAt: number) {
    this.number = number;
    this.bornAt = bornAt;
  }

  spare(): void {
    this.doom = null;
    this.commitDoom = null;
  }
}
