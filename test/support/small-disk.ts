import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';

export interface SmallDisk {
  readonly path: string;
  /** Takes every free byte, and goes on taking what becomes free. */
  fill(): void;
  /** Takes every free byte but these, once. */
  leave(bytes: number): void;
  free(): void;
  unmount(): void;
}

/** Mounts a small file system in memory; null where this process may not (only root may). */
export function mountSmallDisk(path: string, options: string): SmallDisk | null {
  mkdirSync(path, { recursive: true });
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', path], { stdio: 'ignore' });
  } catch {
    return null;
  }
  const filler = join(path, 'filler');
  let greed: ReturnType<typeof setInterval> | null = null;
  const eat = (): void => {
    const file = openSync(filler, 'a');
    try {
      for (;;) writeSync(file, Buffer.alloc(4096));
    } catch {
      // The disk is full, as it should be.
    } finally {
      closeSync(file);
    }
  };
  const stop = (): void => {
    if (greed !== null) clearInterval(greed);
    greed = null;
  };
  return {
    path,
    fill() {
      eat();
      greed = setInterval(eat, 5);
    },
    leave(bytes) {
      eat();
      truncateSync(filler, Math.max(0, statSync(filler).size - bytes));
    },
    free() {
      stop();
      rmSync(filler, { force: true });
    },
    unmount() {
      stop();
      execFileSync('umount', ['-l', path], { stdio: 'ignore' });
    },
  };
}
