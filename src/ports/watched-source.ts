/** A file or a folder that a configuration was made of, and what it held then. */
export interface WatchedSource {
  /** A digest. */
  readonly held: string;
  /** The digest of what it holds now. */
  look(): Promise<string>;
}
