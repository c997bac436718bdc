/** A file or folder that a configuration was read from. */
export interface WatchedSource {
  /** The digest of its content then. */
  readonly held: string;
  /** The digest of its content now. */
  look(): Promise<string>;
}
