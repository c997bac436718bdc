/** One thing that a person or a program of theirs did to a running daemon. */
export interface AuditEntry {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The name that a trusted proxy gave, else the one that was typed, else `page`, `api` or `command line`. */
  readonly by: string;
  /** Address of the client, as a trusted proxy or the connection names it; null for orders left in the database. */
  readonly from: string | null;
  /** Such as `acknowledge` or `silence`. */
  readonly action: string;
  readonly account: string | null;
  readonly rule: string | null;
  /** What was ordered besides, such as the comment and the length of a silence. */
  readonly detail: string;
}
