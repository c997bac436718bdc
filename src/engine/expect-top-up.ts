import { dayMs } from '../domain/duration.ts';
import { parseJson } from '../domain/json.ts';
import { isSameCurrency } from '../domain/money.ts';
import {
  type ExpectedTopUp,
  type ExpectOrder,
  hasArrived,
  type Refusal,
  refuse,
} from '../domain/operator.ts';
import { amountOf, hasSameBalances, type Reading } from '../domain/reading.ts';
import { passLeadTime } from '../spending/local-week.ts';
import { listWords } from '../wording/lists.ts';
import { scheduleAccount } from './judge.ts';
import { type MonitorState, type WatchedAccount, writeNote } from './state.ts';

/** Notes with what is expected, a list for each account. */
const prefix = 'expected:';

/** A later date is a mistake. */
const maxAheadMs = 366 * dayMs;

export function expectTopUp(state: MonitorState, order: ExpectOrder, now: number): ExpectedTopUp | Refusal {
  const account = state.accounts.get(order.account);
  if (account === undefined) return refuse('not-found', `there is no account "${order.account}"`, 'account');
  const { balances } = account.settings;
  const balance = order.balance ?? balances[0]?.id ?? '';
  if (!balances.some(({ id }) => id === balance))
    return refuse(
      'invalid',
      `account "${account.id}" has no balance "${balance}": ${listWords(balances.map(({ id }) => id))}`,
    );
  // After the lead time, in working days where holidays are given.
  const { leadTimeMs } = account.settings;
  const by = order.by ?? (leadTimeMs === null ? null : passLeadTime(account.spending.week, now, leadTimeMs));
  if (by === null) return refuse('invalid', 'say by when it arrives: the account has no "leadTime"');
  if (!(order.amountMicros > 0)) return refuse('invalid', 'the amount must be above 0');
  if (!(by > now && by <= now + maxAheadMs))
    return refuse('invalid', 'it must arrive within 366 days from now');
  const { amountMicros, orderedBy, comment } = order;
  const ordered = { account: account.id, balance, amountMicros, by, orderedAt: now, orderedBy, comment };
  const topUp = { id: order.id ?? `x-${state.random.id()}`, ...ordered, receivedMicros: 0 };
  keepExpected(state, account.id, [...account.expected, topUp]);
  scheduleAccount(state, account);
  return topUp;
}

/** It does not come, or it came unnoticed. */
export function cancelExpected(
  state: MonitorState,
  { account, id }: { readonly account: string; readonly id: string },
): Refusal | null {
  const known = state.expected.get(account) ?? [];
  const others = known.filter((topUp) => topUp.id !== id);
  if (others.length === known.length)
    return refuse('not-found', `account "${account}" expects no top-up with the id "${id}"`);
  keepExpected(state, account, others);
  return null;
}

/** A balance that rose received what was expected first; what has arrived is expected no more. */
export function receiveTopUps(state: MonitorState, account: WatchedAccount, previous: Reading | null): void {
  const { reading } = account.poll;
  const known = state.expected.get(account.id);
  if (known === undefined || reading === null || previous === null) return;
  if (!isSameCurrency(reading.currency, previous.currency) || !hasSameBalances(reading, previous)) return;
  let changed = false;
  const rises = new Map(
    Object.entries(reading.balances).map(([balance, now]) => [balance, now - amountOf(previous, balance)]),
  );
  const after = known.map((topUp) => {
    const rise = rises.get(topUp.balance) ?? 0;
    if (rise <= 0) return topUp;
    const missing = topUp.amountMicros - topUp.receivedMicros;
    rises.set(topUp.balance, rise - missing);
    changed = true;
    return { ...topUp, receivedMicros: topUp.receivedMicros + Math.min(rise, missing) };
  });
  const coming = after.filter((topUp) => !hasArrived(topUp));
  if (changed) keepExpected(state, account.id, coming);
}

export function restoreExpected(state: MonitorState): void {
  for (const { name, value } of state.notes.values()) {
    if (!name.startsWith(prefix)) continue;
    // Only `keepExpected` writes these notes.
    const stored: unknown = parseJson(value);
    if (Array.isArray(stored)) state.expected.set(name.slice(prefix.length), stored);
  }
}

export function forgetExpected(state: MonitorState, account: string): void {
  if (state.expected.has(account)) keepExpected(state, account, []);
}

function keepExpected(state: MonitorState, account: string, topUps: readonly ExpectedTopUp[]): void {
  if (topUps.length > 0) {
    state.expected.set(account, topUps);
    writeNote(state, prefix + account, JSON.stringify(topUps));
  } else {
    state.expected.delete(account);
    state.notes.delete(prefix + account);
  }
}
