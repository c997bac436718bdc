export interface WatchedSource {
  readonly path: string;
  /** The digest of its content then. */
  readonly held: string;
  /** The digest of its content now. */
  look(): Promise<string>;
}

/**
 * Calls `changed` whenever a file, or something in a folder, changes, with its name in the folder where it is known. Gives what ends it;
 * null where it cannot be watched. What is never reported is found by looking.
 */
export type WatchPath = (path: string, changed: (name: string | null) => void) => (() => void) | null;
