import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Frees drawings that nobody refers to any more. The renderer keeps the pixels of each (about 1.5 MB) outside
 * V8's heap without telling V8 of them, so that their garbage presses on no limit: a daemon that allocates
 * little would keep hundreds before it collected one. A minor collection takes a few milliseconds at most and
 * finds them all, because they are young. V8 offers it to programs only by this flag.
 */
export function releaseDrawings(): void {
  collect ??= findCollector();
  collect({ type: 'minor' });
}

type Collector = (options: { readonly type: 'minor' }) => void;

let collect: Collector | null = null;

function findCollector(): Collector {
  setFlagsFromString('--expose-gc');
  const found: unknown = runInNewContext('typeof gc === "function" ? gc : null');
  return isCollector(found) ? found : () => undefined;
}

function isCollector(value: unknown): value is Collector {
  return typeof value === 'function';
}
