import { minuteMs } from '../domain/duration.ts';
import type { Refusal } from '../domain/operator.ts';
import { entryOf } from '../domain/provider-entry.ts';
import { type BalanceAnswer, hasSameBalances } from '../domain/reading.ts';
import { observePoll } from './observe.ts';
import type { MonitorState } from './state.ts';

/** The clock of whoever pushes may be ahead by this much; the reading is then of now. */
const maxAheadMs = minuteMs;

/** A reading that somebody brought, of an account that is not polled. */
export interface PushedReading extends BalanceAnswer {
  readonly account: string;
  /** When it was read there, in milliseconds since 1970. */
  readonly at: number;
}

export interface PushResult {
  readonly isNew: boolean;
}

/**
 * Takes in a pushed reading as a poll is: stored, and judged by the same rules. Not new is the same reading
 * once more: nothing changes. Refused: readings of the future, older ones than the newest, and those of other balances.
 */
export function takeReading(state: MonitorState, pushed: PushedReading, now: number): PushResult | Refusal {
  const account = state.accounts.get(pushed.account);
  if (account === undefined)
    return { refused: 'not-found', why: `no account has the id "${pushed.account}"` };
  if (entryOf(state.settings, account.settings).polled)
    return { refused: 'not-now', why: `the account "${account.id}" is polled: it takes no readings` };
  const ids = account.settings.balances.map(({ id }) => id);
  const unknown = Object.keys(pushed.balances).filter((id) => !ids.includes(id));
  const missing = ids.filter((id) => pushed.balances[id] === undefined);
  if (unknown.length > 0 || missing.length > 0)
    return {
      refused: 'invalid',
      why: `balances: give ${ids.join(' and ')}, each as a string such as "12.50"`,
    };
  if (pushed.at > now + maxAheadMs)
    return { refused: 'invalid', why: 'at: lies in the future, by more than a minute' };
  const at = Math.min(pushed.at, now);
  const newest = account.poll.reading;
  const balances = Object.fromEntries(ids.map((id) => [id, pushed.balances[id] ?? 0]));
  const answer = { balances, currency: pushed.currency };
  if (newest !== null && at <= newest.at) {
    const isSame =
      at === newest.at &&
      newest.currency === answer.currency &&
      hasSameBalances(newest, answer) &&
      ids.every((id) => newest.balances[id] === balances[id]);
    return isSame
      ? { isNew: false }
      : { refused: 'not-now', why: `at: a reading of ${new Date(newest.at).toISOString()} is already there` };
  }
  observePoll(state, account, { kind: 'ok', answer, durationMs: 0, usage: {} }, now, at);
  return { isNew: true };
}
