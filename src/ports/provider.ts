import type { Outcome } from '../domain/reading.ts';
import type { AccountSettings } from '../domain/settings.ts';

/**
 * Called when a request is about to be sent: 0 allows it and counts it, anything else is the milliseconds
 * until it may ask again; at infinity the request is given up. Only sending asks the guard, not connecting, because a new connection
 * takes longer than a kept one.
 */
export type SendingGuard = () => number;

/** Every failure is an outcome. Abort ends it at once with `network_error`. Every send asks the guard, a repeat too. */
export interface Provider {
  readBalance(account: AccountSettings, signal: AbortSignal, guard?: SendingGuard): Promise<Outcome>;
  close(): Promise<void>;
}
