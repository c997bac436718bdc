import type { DaemonParts } from './daemon-dependencies.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { Heartbeat } from './heartbeat.ts';
import type { Learning } from './learning.ts';
import type { Poller } from './poller.ts';

/** Running polls and deliveries get this long at the end; Docker kills after 10 s … */
const drainMs = 7000;
/** … and the last commits this long each. */
const lastStoreMs = 1000;

interface EndingDependencies extends Pick<DaemonParts, 'clock' | 'timer' | 'committer' | 'connections'> {
  readonly learning: Learning;
  readonly poller: Poller;
  readonly dispatcher: Dispatcher;
  readonly heartbeat: Heartbeat;
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

  /** `noteEnd` notes that the daemon lived until then, as the last record. */
  async stop(noteEnd: () => void): Promise<void> {
    const { committer, connections } = this.#dependencies;
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
    for (const part of [timer, learning, poller, dispatcher]) part.stop();
  }

  #giveUp(): void {
    const { poller, dispatcher, heartbeat } = this.#dependencies;
    for (const part of [poller, dispatcher, heartbeat]) part.abandon();
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
