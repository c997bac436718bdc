import type { StandbyViews } from '../../src/cluster/standby-views.ts';
import type { Daemon } from '../../src/daemon/daemon.ts';
import type { Batch, DamagedRecord } from '../../src/ports/store.ts';
import type { LiveViews } from '../../src/views/live-views.ts';
import type { EventQueue } from './event-queue.ts';

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
export class OwnerSpan {
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

/** The machine that a process runs on, as far as the process feels it. */
interface Host {
  readonly queue: EventQueue;
  /** It sleeps or stands still, until `wakesAt`. */
  readonly frozen: boolean;
  readonly wakesAt: number;
  kill(downMs: number): void;
}

/** One process, from its start to its end: its timers, and what it waits for. */
export class Life {
  readonly number: number;
  readonly bornAt: number;
  dead = false;
  stopping = false;
  span: OwnerSpan | null = null;
  /** What it took the accounts under; null where they are not shared. */
  epoch: number | null = null;
  /** What could not be read of the records that it goes on from. */
  lost: readonly DamagedRecord[] = [];
  /** Its page while it stands by; none where it shares nothing. */
  standbyPage: () => Promise<StandbyViews> | undefined = () => undefined;
  /** Ends it as SIGTERM does. */
  end: () => Promise<void> = async () => undefined;
  doom: { calls: number; readonly downMs: number } | null = null;
  commitDoom: { readonly when: 'before' | 'after'; readonly downMs: number } | null = null;
  /** It was about to do something while its lease had ended, and looks again soon. */
  looksAgain = false;
  readonly timers = new Set<Timer>();
  readonly flights = new Set<InFlight>();
  readonly #host: Host;

  constructor(number: number, bornAt: number, host: Host) {
    this.number = number;
    this.bornAt = bornAt;
    this.#host = host;
  }

  spare(): void {
    this.doom = null;
    this.commitDoom = null;
  }

  /** It is killed now, as it was doomed to be. */
  strike(downMs: number): void {
    this.spare();
    this.#host.kill(downMs);
  }

  /** Counts a call of a port; true when the process is dead and nothing it does has any effect. */
  call(): boolean {
    if (!this.dead && this.doom !== null && --this.doom.calls <= 0) this.strike(this.doom.downMs);
    return this.dead;
  }

  setTimer({
    delayMs,
    fire,
    ofLease,
  }: Pick<Timer, 'fire' | 'ofLease'> & { readonly delayMs: number }): () => void {
    if (this.call()) return () => undefined;
    const timer: Timer = { cancel: () => undefined, dueAt: 0, fire, ofLease };
    this.timers.add(timer);
    this.#arm(timer, Math.max(this.#host.queue.now + delayMs, this.#host.frozen ? this.#host.wakesAt : 0));
    return () => {
      timer.cancel();
      this.timers.delete(timer);
    };
  }

  moveTimers(to: (timer: Timer) => number): void {
    for (const timer of [...this.timers]) this.#move(timer, to(timer));
  }

  /** Timers that wait long strike soon: what looks around every second in reality does so then. */
  hurry(which: (timer: Timer) => boolean = () => true): void {
    const { now } = this.#host.queue;
    for (const timer of [...this.timers].filter(which))
      if (timer.dueAt > now + 10_000) this.#move(timer, now + 700);
  }

  #move(timer: Timer, at: number): void {
    timer.cancel();
    this.#arm(timer, at);
  }

  #arm(timer: Timer, at: number): void {
    timer.dueAt = at;
    timer.cancel = this.#host.queue.at(at, () => {
      this.timers.delete(timer);
      if (this.dead) return;
      timer.fire();
    });
  }

  /** An answer from outside reaches the process, unless it sleeps: then when it wakes. */
  deliver(afterMs: number, run: () => void): void {
    const arrive = (): void => {
      if (this.dead) return;
      if (this.#host.frozen) this.#host.queue.at(this.#host.wakesAt, arrive);
      else {
        run();
      }
    };
    this.#host.queue.at(this.#host.queue.now + afterMs, arrive);
  }

  /** While it stops, what is given up on ends at once. */
  sweepAborted(): void {
    if (this.dead) return;
    for (const flight of [...this.flights]) if (flight.signal.aborted) flight.abort();
    this.#host.queue.at(this.#host.queue.now + 500, () => this.sweepAborted());
  }
}
