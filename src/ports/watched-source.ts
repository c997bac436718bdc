export interface WatchedSource {
  readonly path: string;
  /** The digest of its content then. */
  readonly held: string;
  /** The digest of its content now. */
  look(): Promise<string>;
}

/** With the name in the folder where known. Gives what ends it; null where nothing can be watched: then one looks. */
export type WatchPath = (path: string, changed: (name: string | null) => void) => (() => void) | null;
