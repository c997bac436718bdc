import { backoffDelay, failureDelay } from '../domain/backoff.ts';
import { type Refusal, refuse } from '../domain/operator.ts';
import { ownOf } from '../domain/own.ts';
import { entryOf, providerKeyOf } from '../domain/provider-entry.ts';
import {
  type AccountState,
  type BalanceAnswer,
  hasSameBalances,
  isInCurrency,
  type Outcome,
  type Reading,
} from '../domain/reading.ts';
import { isoText, minuteMs } from '../domain/time.ts';
import { keepAnnounced, runsAfter } from './announced-runs.ts';
import { receiveTopUps } from './expected-top-ups.ts';
import { delaysStaleness, touchStaleIncidents } from './inhibit.ts';
import { judgePoll } from './judge.ts';
import { pollGap } from './poll-gaps.ts';
import { takeIn } from './spending.ts';
import { groupOf, type MonitorState, type WatchedAccount } from './state.ts';

/** Takes in the end of a poll. Failures make the account or its group wait. `readAt` is earlier than `now` if the reading was pushed. */
export function observePoll(
  state: MonitorState,
  account: WatchedAccount,
  outcome: Outcome,
  now: number,
  readAt = now,
): void {
  const before = account.poll;
  const wasDelayed = before.consecutiveFailures > 0 && delaysStaleness(state, account);
  const reading =
    outcome.kind === 'ok'
      ? { at: readAt, balances: outcome.answer.balances, currency: outcome.answer.currency }
      : null;
  state.polls.add({ account: account.id, poll: { at: readAt, outcome: outcome.kind, reading } });
  const after =
    outcome.kind === 'ok' && reading !== null
      ? afterReading(account, reading, outcome)
      : afterFailure(state, account, outcome, now);
  account.poll = after;
  if (reading !== null) {
    const previous = comparableBefore(account, reading);
    const runs = runsAfter(state, account, previous);
    takeIn(state, account, reading);
    if (runs !== null) keepAnnounced(state, account.id, runs);
    receiveTopUps(state, account, previous);
    account.pollGapMs = pollGap(state.calendar, account.settings.poll, after);
    clearBackoff(state, account, now);
  }
  for (const id of state.unconfirmed.get(account.id) ?? []) state.touched.add(id);
  state.unconfirmed.delete(account.id);
  judgePoll(state, account, now);
  if (wasDelayed && !delaysStaleness(state, account))
    touchStaleIncidents(state, providerKeyOf(account.settings));
}

/** The account is not polled before this instant, whoever asks: its key was refused, or its group met the rate limit. */
export function blockedUntil(state: MonitorState, id: string): number {
  const poll = state.accounts.get(id)?.poll;
  // Other failures than a refused key retry sooner than the schedule.
  const refusedUntil = poll?.outcome === 'auth_failed' ? (poll.retryAt ?? 0) : 0;
  return Math.max(state.backoffs.get(groupOf(state, id))?.until ?? 0, refusedUntil);
}

/** The reading before, if both are in the currency in which people announce top-ups and runs; else null. */
function comparableBefore({ settings, poll }: WatchedAccount, reading: Reading): Reading | null {
  const { previous } = poll;
  const currency = settings.currency ?? reading.currency;
  return previous !== null && [previous, reading].every((each) => isInCurrency({ currency }, each))
    ? previous
    : null;
}

function hasSameAmounts(one: Reading['balances'], other: Reading['balances']): boolean {
  for (const balance in other) if (ownOf(one, balance) !== ownOf(other, balance)) return false;
  return true;
}

function afterReading(
  { settings, poll: before }: WatchedAccount,
  reading: Reading,
  { usage, facts }: Outcome & { readonly kind: 'ok' },
): AccountState {
  const last = before.reading;
  // A top-up that came meanwhile shows only in comparison with the last reading in the account's currency.
  const comparable = last === null || isInCurrency(settings, last) ? last : before.previous;
  const changed =
    last === null || last.currency !== reading.currency || !hasSameAmounts(last.balances, reading.balances);
  return {
    account: before.account,
    firstSeenAt: before.firstSeenAt,
    polledAt: reading.at,
    outcome: 'ok',
    failure: null,
    failureCode: null,
    consecutiveFailures: 0,
    reading,
    // Nothing is compared with a reading of other balances: of another provider, or of another configuration.
    previous: comparable !== null && hasSameBalances(comparable, reading) ? comparable : null,
    changedAt: changed ? reading.at : before.changedAt,
    unwatchedMs: 0,
    usage,
    facts,
    retryAt: null,
    purse: before.purse,
    seriesSince: before.seriesSince,
  };
}

function afterFailure(
  state: MonitorState,
  account: WatchedAccount,
  outcome: Outcome,
  now: number,
): AccountState {
  if (outcome.kind === 'ok') throw new Error('a good reading is no failure');
  const before = account.poll;
  const failures = before.consecutiveFailures + 1;
  const retryAfterMs = outcome.retryAfterMs ?? null;
  if (outcome.kind === 'rate_limited') strike(state, account, retryAfterMs, now);
  else if (retryAfterMs !== null && outcome.kind !== 'auth_failed')
    standBack(state, account, now + retryAfterMs);
  return {
    ...before,
    polledAt: now,
    outcome: outcome.kind,
    failure: outcome.reason,
    failureCode: outcome.code ?? null,
    consecutiveFailures: failures,
    usage: outcome.usage,
    retryAt: outcome.kind === 'rate_limited' ? null : now + retryDelay(state, account, outcome, failures),
  };
}

function retryDelay(
  state: MonitorState,
  account: WatchedAccount,
  outcome: Exclude<Outcome, { kind: 'ok' }>,
  failures: number,
): number {
  const intervalMs = account.pollIntervalMs;
  // A refused key counts by itself: earlier failures of another kind do not lengthen its first wait.
  if (outcome.kind === 'auth_failed') {
    const strikes = account.poll.outcome === 'auth_failed' ? failures : 1;
    const retryAfterMs = outcome.retryAfterMs ?? null;
    return backoffDelay({ strikes, ...backoffOf(state, account), intervalMs, retryAfterMs });
  }
  return failureDelay({ failures, intervalMs });
}

/** `Retry-After` without a rate limit: the group waits, but without a strike. */
function standBack(state: MonitorState, account: WatchedAccount, until: number): void {
  const group = groupOf(state, account.id);
  const known = state.backoffs.get(group) ?? { group, strikes: 0, until: 0 };
  if (known.until < until) state.backoffs.set(group, { ...known, until });
}

function strike(
  state: MonitorState,
  account: WatchedAccount,
  retryAfterMs: number | null,
  now: number,
): void {
  const group = groupOf(state, account.id);
  const known = state.backoffs.get(group);
  // An answer that arrives while the group waits was requested before: one rate limit is one strike, however many accounts met it.
  const isSame = known !== undefined && known.strikes > 0 && known.until > now;
  const strikes = isSame ? known.strikes : (known?.strikes ?? 0) + 1;
  // An account that is polled once a day must not make its group wait that long.
  const intervalMs = state.shortestIntervals.get(group) ?? account.pollIntervalMs;
  const delay = backoffDelay({ strikes, ...backoffOf(state, account), intervalMs, retryAfterMs });
  state.backoffs.set(group, { group, strikes, until: Math.max(now + delay, known?.until ?? 0) });
}

/** An `ok` that arrives while the group waits was requested before: the wait stays. */
function clearBackoff(state: MonitorState, account: WatchedAccount, now: number): void {
  const group = groupOf(state, account.id);
  const known = state.backoffs.get(group);
  if (known === undefined) return;
  const until = known.until > now ? known.until : 0;
  if (known.strikes > 0 || known.until !== until) state.backoffs.set(group, { group, strikes: 0, until });
}

function backoffOf(state: MonitorState, account: WatchedAccount) {
  return { ...entryOf(state.settings, account.settings).backoff, jitterFraction: state.random.fraction() };
}

/** The clock of whoever pushes may be ahead by this much; the reading then counts as read now. */
const maxAheadMs = minuteMs;

/** A reading that somebody pushed, of an account that is not polled. */
export interface PushedReading extends BalanceAnswer {
  readonly account: string;
  /** When it was read there, in milliseconds since 1970. */
  readonly at: number;
}

export interface PushResult {
  readonly isNew: boolean;
}

/**
 * Takes in a pushed reading like a poll: it is stored, and judged by the same rules. The same reading once more is not new and changes
 * nothing. Refused are readings of other balances, from the future, or older than the newest one, unless that is from the future itself.
 */
export function takeReading(state: MonitorState, pushed: PushedReading, now: number): PushResult | Refusal {
  const account = state.accounts.get(pushed.account);
  if (account === undefined) return refuse('not-found', `no account has the id "${pushed.account}"`);
  if (entryOf(state.settings, account.settings).polled)
    return refuse('not-now', `the account "${account.id}" is polled: it takes no readings`);
  const ids = account.settings.balances.map(({ id }) => id);
  const unknown = Object.keys(pushed.balances).filter((id) => !ids.includes(id));
  const missing = ids.filter((id) => ownOf(pushed.balances, id) === undefined);
  if (unknown.length > 0 || missing.length > 0)
    return refuse('invalid', `balances: give ${ids.join(' and ')}, each as a string such as "12.50"`);
  if (pushed.at > now + maxAheadMs) return refuse('invalid', 'at: lies in the future, by more than a minute');
  if (pushed.at < now - state.settings.storage.retentionMs)
    return refuse('invalid', 'at: lies before all that is kept (storage.retention)');
  const newest = account.poll.reading;
  const clamped = state.pushedAhead.get(account.id);
  // The given instant is compared, because a clock that is ahead names the same instant again.
  const at = pushed.at === clamped?.given ? clamped.taken : Math.min(pushed.at, now);
  const balances = Object.fromEntries(ids.map((id) => [id, ownOf(pushed.balances, id) ?? 0]));
  const answer = { balances, currency: pushed.currency };
  // A reading from the future was read by a clock that was ahead: it is not the newer one.
  if (newest !== null && at <= newest.at && newest.at <= now + maxAheadMs) {
    const isSame =
      at === newest.at &&
      newest.currency === answer.currency &&
      hasSameBalances(newest, answer) &&
      ids.every((id) => ownOf(newest.balances, id) === ownOf(balances, id));
    return isSame
      ? { isNew: false }
      : refuse('not-now', `at: a reading of ${isoText(newest.at)} is already there`);
  }
  if (pushed.at > now) state.pushedAhead.set(account.id, { given: pushed.at, taken: at });
  observePoll(state, account, { kind: 'ok', answer, durationMs: 0, usage: {} }, now, at);
  return { isNew: true };
}
