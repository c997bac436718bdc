import type { DaemonParts } from './daemon-dependencies.ts';

/** Running polls and deliveries get this long at the end; Docker kills after 10 s … */
const drainMs = 7000;
/** … and the last commits this long each. */
const lastStoreMs = 1000;

interface EndingDependencies extends Pick<DaemonParts, 'clock' | 'committer' | 'connections'> {
  /** What begins work. */
  readonly sources: readonly { stop(): void }[];
  /** What has work that can be given up. */
  readonly workers: readonly { abandon(): void }[];
  /** How many polls and deliveries are under way. */
  readonly running: () => number;
}

export class Ending {
  readonly #dependencies: EndingDependencies;
  #idle: (() => void) | null = null;

  constructor(dependencies: EndingDependencies) {
    this.#dependencies = dependencies;
  }

  /** Stores nothing more. */
  async abandon(): Promise<void> {
    const { committer, connections, sources, workers } = this.#dependencies;
    for (const source of sources) source.stop();
    committer.stop();
    for (const worker of workers) worker.abandon();
    await connections.close();
  }

  /** `noteEnd` notes that the daemon lived until then, as the last record. */
  async stop(noteEnd: () => void): Promise<void> {
    const { committer, connections, sources, workers } = this.#dependencies;
    for (const source of sources) source.stop();
    void committer.flush();
    await this.#untilIdle(drainMs);
    for (const worker of workers) worker.abandon();
    void committer.flush();
    await this.#untilIdle(lastStoreMs);
    noteEnd();
    await this.#atMost(lastStoreMs, committer.flushAll());
    committer.stop();
    await connections.close();
  }

  somethingEnded(): void {
    if (this.#idle !== null && this.#dependencies.running() === 0) this.#idle();
  }

  async #untilIdle(withinMs: number): Promise<void> {
    if (this.#dependencies.running() === 0) return;
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
