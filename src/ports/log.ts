/** A static message and fields. Never given a secret; the adapter scrubs known ones all the same. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  fatal(fields: object, message: string): void;
  /** Lines that could not be written since the start; absent when nobody counts them. */
  readonly dropped?: number;
}
