import type { Micros } from './money.ts';

/** The names are public: storage, metrics, API and logs use them. */
export const outcomeKinds = [
  'ok',
  'rate_limited',
  'auth_failed',
  'api_error',
  'invalid_response',
  'http_error',
  'timeout',
  'network_error',
] as const;

export type OutcomeKind = (typeof outcomeKinds)[number];

/** A balance as the provider answered it, before lowwater knows which account and instant it belongs to. */
export interface BalanceAnswer {
  /** By the ids of the account's balances, in their order. */
  readonly balances: Readonly<Record<string, Micros>>;
  /** A currency, or a unit that is no money (`isUnit`). */
  readonly currency: string;
}

/** What some providers say besides the balances. Absent parts were not said. */
export interface ProviderFacts {
  /** Whether the provider tops the account up by itself. */
  readonly autoRecharge?: boolean;
  /** How far below zero the provider lets the account go, 0 or more. */
  readonly creditLimitMicros?: Micros;
  /** Spent and not yet taken from the balance, 0 or more. */
  readonly pendingMicros?: Micros;
}

/**
 * What one balance request came to. A value, never an exception.
 *
 * - `reason` is a sentence for people: it names the cause and never quotes a body, an address or a secret.
 * - `code` is the envelope's code where there was one, `status` the HTTP status where there was one.
 * - `retryAfterMs` is the response's `Retry-After` in milliseconds from now, already capped to a day;
 *   absent where the header was absent or unreadable.
 * - `usage` are the response headers whose names speak of limits.
 */
export type Outcome = OutcomeDetail & {
  readonly durationMs: number;
  readonly usage: Readonly<Record<string, string>>;
};

export type OutcomeDetail =
  | {
      readonly kind: 'ok';
      readonly answer: BalanceAnswer;
      readonly unknownFields?: readonly string[];
      readonly facts?: ProviderFacts;
    }
  | {
      readonly kind: Exclude<OutcomeKind, 'ok'>;
      readonly reason: string;
      readonly code?: number;
      readonly status?: number;
      readonly retryAfterMs?: number;
    };
