import { setFlagsFromString } from 'node:v8';

/**
 * Keeps the memory of a process that runs for years small. Node would let young objects take 100 MB before it looks for
 * garbage, which pays where much is made; the daemon makes little, and a replay must fit next to it. To be called before the rest is loaded: what the
 * young objects' space has grown to it keeps.
 */
export function keepMemorySmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

/** The young objects of a command that ends soon get space at once: what it loads lives until the end, and is not to be copied often. */
export function takeMemoryAtOnce(): void {
  setFlagsFromString('--semi-space-growth-factor=16');
}

/** Looks for garbage among old objects when they have doubled, not when there are four times as many. A replay of years makes them all the time. */
export function keepGarbageSmall(): void {
  setFlagsFromString('--heap-growing-percent=100');
}
