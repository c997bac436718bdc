/** Calls `make` once and returns its promise from then on. A failure (no file descriptor is left) is not kept: the next call tries again. */
export function keepPromise<T>(make: () => Promise<T>): () => Promise<T> {
  let kept: Promise<T> | null = null;
  const forget = (error: unknown): never => {
    kept = null;
    throw error;
  };
  return () => (kept ??= make().catch(forget));
}
