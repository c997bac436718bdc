import type { Clock } from '../ports/clock.ts';
import type { WatchedSource } from '../ports/watched-source.ts';

export interface ConfigWatchOptions {
  readonly sources: readonly WatchedSource[];
  readonly onChange: () => void;
  readonly clock: Clock;
  readonly everyMs?: number;
}

export interface ConfigWatch {
  /** After a reload the configuration may be made of other files. */
  setSources(sources: readonly WatchedSource[]): void;
  /** Resolves when the round that is under way is over. */
  settled(): Promise<void>;
  close(): void;
}

/**
 * Notices that the configuration, or a file that it names, holds something else than when it was loaded, by
 * looking once a second. Looking finds what notifications of the file system miss: bind mounts, symbolic
 * links swapped by Kubernetes, editors that rename, network drives. A change is told when two rounds in a row
 * saw the same, so that a file half written is not loaded. A file that appears or goes away has changed.
 */
export function watchConfig({ sources, onChange, clock, everyMs = 1000 }: ConfigWatchOptions): ConfigWatch {
  let watched = sources;
  let loaded = heldBy(watched);
  let lastSeen = loaded;
  let closed = false;
  let cancelTimer = (): void => {};
  let round: Promise<void> = Promise.resolve();

  const look = async (): Promise<void> => {
    const asked = watched;
    const seen: string[] = [];
    // One after another: a file system that hangs then holds one of the few threads that name resolution needs too, not all.
    for (const source of asked) seen.push(await source.look());
    // Other files are watched by now: what was read says nothing about them.
    if (closed || asked !== watched) return;
    const all = seen.join(' ');
    const isStill = all === lastSeen;
    lastSeen = all;
    if (!isStill || all === loaded) return;
    loaded = all;
    onChange();
  };
  const arm = (): void => {
    if (closed) return;
    cancelTimer = clock.setTimer(everyMs, () => {
      round = look().then(arm);
    });
  };
  arm();

  return {
    setSources(others) {
      watched = others;
      loaded = heldBy(others);
      lastSeen = loaded;
    },
    settled: () => round,
    close() {
      closed = true;
      cancelTimer();
    },
  };
}

function heldBy(sources: readonly WatchedSource[]): string {
  return sources.map(({ held }) => held).join(' ');
}
