import type { Alert, Incident } from '../domain/alert.ts';
import type { OutboxMessage } from '../domain/outbox.ts';
import type { OutcomeKind } from '../domain/outcome.ts';
import type { PollRecord, Reading } from '../domain/reading.ts';
import type { Silence } from '../domain/silence.ts';

/** Time. Nothing else in the program reads a clock. */
export interface Clock {
  /** Wall clock, milliseconds since 1970. May jump. */
  now(): number;
  /** Milliseconds that only ever grow, at the pace of real time. */
  monotonic(): number;
  /**
   * Calls `fire` once after `delayMs` (any length); 0 is as soon as what is under way has had its turn. Returns a function that
   * cancels it.
   */
  setTimer(delayMs: number, fire: () => void): () => void;
}

/** Randomness. */
export interface Random {
  /** A number in [0, 1). */
  fraction(): number;
  /** A unique id for a message, an incident or a silence: letters, digits and hyphens. */
  id(): string;
  /** Bytes that nobody can guess, for a key. */
  bytes(count: number): Buffer;
}

/** Cron expressions and time zones. Expressions were checked when the configuration was loaded. */
export interface Calendar {
  /** The first instant strictly after `after`; null when there is none. */
  next(cron: string, timezone: string, after: number): number | null;
  /** The last instant at or before `before`; null when there is none. */
  previous(cron: string, timezone: string, before: number): number | null;
  /** How far the zone's clocks are ahead of UTC at an instant, in milliseconds. Cheap: it is asked for each hour of the weeks ahead. */
  offsetMs(timezone: string, at: number): number;
}

/** How sending one message ended. `reason` names the cause without quoting an address that is a credential. */
export type Delivery =
  | {
      readonly kind: 'delivered';
      /** Refused for good, while others got the message. */
      readonly refusedRecipients?: readonly string[];
      /** Refused for now, while others got it: these are tried again alone. */
      readonly owed?: {
        readonly recipients: readonly string[];
        readonly reason: string;
        readonly afterMs?: number;
      };
      /** What the receiver answered, for people. */
      readonly said?: string;
      /** What the receiver calls the message, where what follows can refer to it. */
      readonly receipt?: string;
    }
  /** `unknown`: it may have arrived although nothing says so. `refused`: it surely did not. */
  | {
      readonly kind: 'retry';
      readonly certainty: 'refused' | 'unknown';
      readonly afterMs?: number;
      /** A message that was answered so is given up after so many attempts. */
      readonly tries?: number;
      readonly reason: string;
    }
  | { readonly kind: 'dead'; readonly reason: string };

/** What is known of one account between polls, as it is stored. */
export interface AccountState {
  readonly account: string;
  readonly firstSeenAt: number;
  readonly polledAt: number | null;
  readonly outcome: OutcomeKind | null;
  /** Reason of the last failure; null when the last poll was `ok`. */
  readonly failure: string | null;
  readonly failureCode: number | null;
  readonly consecutiveFailures: number;
  readonly reading: Reading | null;
  readonly previous: Reading | null;
  /** When the newest reading differed from the one before it. */
  readonly changedAt: number | null;
  readonly unwatchedMs: number;
  readonly usage: Readonly<Record<string, string>>;
  /** Not polled before this instant because it failed (auth and other failures, per account). */
  readonly retryAt: number | null;
}

/** Waiting of a whole group of accounts that share a secret after `rate_limited`. */
export interface GroupBackoff {
  /** Named after one of its accounts: nothing of the secret is stored. */
  readonly group: string;
  readonly strikes: number;
  readonly until: number;
}

/** What is known of an account's spending, as bytes that only `spending/` reads. */
export interface StoredSpending {
  readonly account: string;
  readonly bytes: Uint8Array;
}

/** Everything that one turn of the daemon changed, stored in one transaction. Absent parts did not change. */
export interface Batch {
  readonly polls: readonly { readonly account: string; readonly poll: PollRecord }[];
  readonly accounts: readonly AccountState[];
  readonly removedAccounts: readonly string[];
  readonly spending: readonly StoredSpending[];
  readonly backoffs: readonly GroupBackoff[];
  readonly alerts: readonly Alert[];
  readonly removedAlerts: readonly { readonly account: string; readonly rule: string }[];
  readonly incidents: readonly Incident[];
  readonly messages: readonly OutboxMessage[];
  /** Ids of messages whose content went into another one. */
  readonly removedMessages: readonly string[];
  readonly silences: readonly Silence[];
  /** Small named values: when a report last went out, when the daemon was last alive. Null removes one. */
  readonly notes: Readonly<Record<string, string | null>>;
}

/** What a daemon needs to go on where the last one stopped. */
export interface StoredState {
  readonly accounts: readonly AccountState[];
  readonly spending: readonly StoredSpending[];
  readonly backoffs: readonly GroupBackoff[];
  readonly alerts: readonly Alert[];
  /**
   * Open incidents, closed ones of which a channel that was told has not been told the end, and those that a message
   * which waits speaks of.
   */
  readonly incidents: readonly Incident[];
  readonly messages: readonly OutboxMessage[];
  readonly silences: readonly Silence[];
  readonly notes: Readonly<Record<string, string>>;
}

/** An order that the command line left in the database for the daemon. */
export type OperatorOrder =
  | {
      readonly kind: 'acknowledge';
      readonly account: string;
      readonly rule: string;
      readonly by: string;
      readonly comment: string;
      readonly at: number;
    }
  | {
      readonly kind: 'unacknowledge';
      readonly account: string;
      readonly rule: string;
      readonly at: number;
    }
  | { readonly kind: 'silence'; readonly silence: Silence }
  | { readonly kind: 'expire'; readonly id: string; readonly at: number }
  /** The owner of a shared database gives the accounts to another daemon. */
  | { readonly kind: 'hand-over'; readonly at: number };

export interface HistoryQuery {
  readonly account: string;
  /** Inclusive. */
  readonly since: number;
  /** Exclusive. */
  readonly until: number;
  /**
   * In the order in which they were stored instead of that of their times, for who has to live through them again. The
   * two differ where the clock was set back.
   */
  readonly asStored?: boolean;
}

export interface IncidentQuery {
  readonly account?: string;
  readonly rule?: string;
  /** Incidents that were open at some time in [since, until). */
  readonly since?: number;
  readonly until?: number;
  readonly limit?: number;
}

/** A failure that the operator can mend; the message is a sentence for that person. */
export class OperatorError extends Error {}

/**
 * Why the database could not be used; `kind` decides what a person is told. `unknown`: what was to be stored may be stored all the
 * same, and only storing it again, as it is, finds that out. `fenced`: another daemon owns the accounts now, and nothing was stored.
 * `unfit`: what is configured and what is there do not go together, and waiting does not change that.
 */
export class StorageError extends OperatorError {
  readonly kind: 'full' | 'read-only' | 'corrupt' | 'busy' | 'unknown' | 'fenced' | 'unfit' | 'other';

  constructor(kind: StorageError['kind'], message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = 'StorageError';
    this.kind = kind;
  }
}

/**
 * Structured logging: a static message and fields. Never given a secret; the adapter scrubs known ones all
 * the same.
 */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  fatal(fields: object, message: string): void;
  /** Lines that could not be written since the start, where somebody counts them. */
  readonly dropped?: number;
}
