export interface WatchedSource {
  readonly path: string;
  /** The digest of the content that was loaded. */
  readonly held: string;
  /** The digest of its content now. */
  look(): Promise<string>;
}

/** Calls `changed` with the name in the folder, if known. Returns a function that ends the watch; null if one has to look instead. */
export type WatchPath = (path: string, changed: (name: string | null) => void) => (() => void) | null;
