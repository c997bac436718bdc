import type { Outcome } from '../domain/outcome.ts';
import type { AccountSettings } from '../domain/settings.ts';

/**
 * Asked at the instant at which a request would be sent: 0 lets it go and counts it, anything else is how many milliseconds
 * later it may ask again. Planning alone does not hold the guard: a new connection takes its time, a kept one none.
 */
export type SendingGuard = () => number;

/**
 * One balance request. Never rejects: every failure is an outcome. Aborting gives up at once with `network_error`. Every
 * sending asks the guard, also one that repeats a request which met a dead connection.
 */
export interface Provider {
  readBalance(account: AccountSettings, signal: AbortSignal, guard?: SendingGuard): Promise<Outcome>;
  close(): Promise<void>;
}
