/** Time. Nothing else in the program reads a clock. */
export interface Clock {
  /** Wall clock, milliseconds since 1970. May jump. */
  now(): number;
  /** Milliseconds that only grow, at the pace of real time. */
  monotonic(): number;
  /** Calls `fire` once after `delayMs` (any length; 0: after what is under way has had its turn). Returns a function that cancels it. */
  setTimer(delayMs: number, fire: () => void): () => void;
}

export interface Random {
  /** A number in [0, 1). */
  fraction(): number;
  /** A unique id for a message, an incident or a silence: letters, digits and hyphens. */
  id(): string;
  /** Bytes that nobody can guess, for a key. */
  bytes(count: number): Buffer;
}

/** Cron expressions in time zones. Expressions were checked when the configuration was loaded. */
export interface Calendar {
  /** The first instant strictly after `after`; null when there is none. Throws for text that is no expression. */
  next(cron: string, timezone: string, after: number): number | null;
  /** The last instant at or before `before`; null when there is none. */
  previous(cron: string, timezone: string, before: number): number | null;
}
