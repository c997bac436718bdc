import type { Clock } from '../ports/clock.ts';
import type { Committer } from './committer.ts';
import type { Connections } from './connections.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { Heartbeat } from './heartbeat.ts';
import type { Learning } from './learning.ts';
import type { Poller } from './poller.ts';
import type { WakeTimer } from './wake-timer.ts';

/** Running polls and deliveries get this long at the end; Docker kills after 10 s … */
const drainMs = 7000;
/** … and the last commits this long each. */
const lastStoreMs = 1000;

interface EndingDependencies {
  readonly clock: Clock;
  readonly timer: WakeTimer;
  readonly learning: Learning;
  readonly poller: Poller;
  readonly dispatcher: Dispatcher;
  readonly heartbeat: Heartbeat;
  readonly committer: Committer;
  readonly connections: Connections;
  /** Notes that the daemon lived until now, as the last record. */
  readonly noteEnd: () => void;
}

export class Ending {
  readonly #dependencies: EndingDependencies;
  #idle: (() => void) | null = null;

  constructor(dependencies: EndingDependencies) {
    this.#dependencies = dependencies;
  }

  /** Stores nothing more. */
  async abandon(): Promise<void> {
    this.#beginNothing();
    this.#dependencies.committer.stop();
    this.#giveUp();
    await this.#dependencies.connections.close();
  }

  async stop(): Promise<void> {
    const { committer, connections, noteEnd } = this.#dependencies;
    this.#beginNothing();
    void committer.flush();
    await this.#untilIdle(drainMs);
    this.#giveUp();
    void committer.flush();
    await this.#untilIdle(lastStoreMs);
    noteEnd();
    await this.#atMost(lastStoreMs, committer.flushAll());
    committer.stop();
    await connections.close();
  }

  somethingEnded(): void {
    if (this.#idle !== null && this.#isIdle()) this.#idle();
  }

  #beginNothing(): void {
    const { timer, learning, poller, dispatcher } = this.#dependencies;
    timer.stop();
    learning.stop();
    poller.stop();
    dispatcher.stop();
  }

  #giveUp(): void {
    const { poller, dispatcher, heartbeat } = this.#dependencies;
    poller.abandon();
    dispatcher.abandon();
    heartbeat.abandon();
  }

  #isIdle(): boolean {
    return this.#dependencies.poller.running === 0 && this.#dependencies.dispatcher.running === 0;
  }

  async #untilIdle(withinMs: number): Promise<void> {
    if (this.#isIdle()) return;
    const idle = Promise.withResolvers<void>();
    this.#idle = idle.resolve;
    await this.#atMost(withinMs, idle.promise);
    this.#idle = null;
  }

  async #atMost(ms: number, work: Promise<void>): Promise<void> {
    const late = Promise.withResolvers<void>();
    const cancel = this.#dependencies.clock.setTimer(ms, late.resolve);
    await Promise.race([work, late.promise]);
    cancel();
  }
}
