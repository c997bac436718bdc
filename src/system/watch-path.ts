import { watch } from 'node:fs';

/**
 * Calls `changed` when a file, or something in a folder, was written, created, renamed or removed, with its name in the folder if known. Returns a
 * function that ends the watch; null if the system cannot watch, so the caller has to poll. Some network drives never report anything.
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
