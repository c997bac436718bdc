import { countUnstored } from '../engine/batch.ts';
import type { Clock } from '../ports/clock.ts';
import type { DaemonParts } from './daemon-dependencies.ts';

/** Running polls and deliveries get this long at the end, because Docker kills after 10 s … */
const drainMs = 7000;
/** … and each of the last commits this long. A database that is locked or full is tried again for what is left of both. */
const lastStoreMs = 1000;

interface EndingWork {
  readonly sources: readonly { stop(): void }[];
  /** Parts with running work that can be given up. */
  readonly workers: readonly { abandon(): void }[];
  /** The number of polls and deliveries under way. */
  readonly running: () => number;
}

export function createEnding(
  { clock, committer, connections, log, membership, state }: DaemonParts,
  { sources, workers, running }: EndingWork,
) {
  let idle: (() => void) | null = null;

  async function untilIdle(withinMs: number): Promise<void> {
    if (running() === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    idle = resolve;
    await atMost(clock, withinMs, promise);
    idle = null;
  }

  async function storeAll(withinMs: number): Promise<void> {
    await atMost(clock, withinMs, committer.flushAll(clock.monotonic() + withinMs));
  }

  return {
    /** Stores nothing more. */
    async abandon(): Promise<void> {
      for (const source of sources) source.stop();
      committer.stop();
      for (const worker of workers) worker.abandon();
      await connections.close();
    },
    /** As `stop`, but no part ends. */
    async drain(noteEnd: () => void): Promise<void> {
      void committer.flush();
      await untilIdle(drainMs);
      noteEnd();
      await storeAll(lastStoreMs);
    },
    /** `noteEnd` notes, as the last record, that the daemon lived until then. */
    async stop(noteEnd: () => void): Promise<void> {
      const until = clock.monotonic() + drainMs + 2 * lastStoreMs;
      for (const source of sources) source.stop();
      void committer.flush();
      // Keeps a second for the lease, which has to be given back so that another daemon can own the shared accounts.
      await untilIdle(membership === undefined ? drainMs : drainMs - lastStoreMs);
      for (const worker of workers) worker.abandon();
      void committer.flush();
      await untilIdle(lastStoreMs);
      noteEnd();
      await storeAll(membership === undefined ? until - clock.monotonic() : lastStoreMs);
      committer.stop();
      const lost = countUnstored(state);
      if (Object.values(lost).some((count) => count > 0))
        log.error(lost, 'ended before all could be stored: what was in memory alone is lost');
      await connections.close();
    },
    somethingEnded(): void {
      if (idle !== null && running() === 0) idle();
    },
  };
}

export async function atMost(clock: Clock, ms: number, work: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const cancel = clock.setTimer(ms, late.resolve);
  await Promise.race([work, late.promise]);
  cancel();
}
