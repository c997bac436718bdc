import type { Clock } from '../domain/ports.ts';
import { createFileFingerprints } from './file-fingerprint.ts';

export interface ConfigWatchOptions {
  /** The configuration file. */
  readonly path: string;
  /** Files that placeholders in it name. */
  readonly files: readonly string[];
  /** Called once for each change. */
  readonly onChange: () => void;
  readonly clock: Clock;
  readonly everyMs?: number;
}

export interface ConfigWatch {
  /** After a reload placeholders may name other files. What all of them hold at this moment counts as loaded. */
  setFiles(files: readonly string[]): void;
  /** Resolves when the round that is under way is over. */
  settled(): Promise<void>;
  close(): void;
}

/**
 * Notices that the configuration, or a file that it names, holds something else than when it was loaded, by
 * looking once a second. Looking finds what notifications of the file system miss: bind mounts, symbolic
 * links swapped by Kubernetes, editors that rename, network drives. A change is told when two rounds in a row
 * saw the same, so that a file half written is not loaded. A file that appears or goes away has changed.
 * Start it right after the configuration was loaded.
 */
export function watchConfig({
  path,
  files,
  onChange,
  clock,
  everyMs = 1000,
}: ConfigWatchOptions): ConfigWatch {
  const fingerprints = createFileFingerprints();
  let watched = [path, ...files];
  let loaded = fingerprints.readNow(watched);
  let lastSeen = loaded;
  let closed = false;
  let cancelTimer = (): void => {};
  let round: Promise<void> = Promise.resolve();

  const look = async (): Promise<void> => {
    const asked = watched;
    const seen = await fingerprints.read(asked);
    // Other files are watched by now: what was read says nothing about them.
    if (closed || asked !== watched) return;
    const isStill = seen === lastSeen;
    lastSeen = seen;
    if (!isStill || seen === loaded) return;
    loaded = seen;
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
    setFiles(others) {
      watched = [path, ...others];
      loaded = fingerprints.readNow(watched);
      lastSeen = loaded;
    },
    settled: () => round,
    close() {
      closed = true;
      cancelTimer();
    },
  };
}
