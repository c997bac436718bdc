import { watch } from 'node:fs';

/**
 * Calls `changed` whenever a file, or something in a folder, was written, made, renamed or removed, with its name in the folder where it is known. Gives what ends it; null where the
 * system cannot watch it: the caller looks by itself then. Some file systems, such as network drives, never report anything.
 */
export function watchPath(path: string, changed: (name: string | null) => void): (() => void) | null {
  try {
    const watcher = watch(path, { persistent: false }, (_, name) => changed(name));
    watcher.on('error', () => watcher.close());
    return () => watcher.close();
  } catch {
    return null;
  }
}
