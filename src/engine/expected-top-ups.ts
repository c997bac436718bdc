import { parseJson } from '../domain/json.ts';
import { isSameCurrency } from '../domain/money.ts';
import { type ExpectedTopUp, hasArrived, missingOf } from '../domain/operator.ts';
import { amountOf, hasSameBalances, type Reading } from '../domain/reading.ts';
import { type MonitorState, type WatchedAccount, writeNote } from './state.ts';

/** Notes with what is expected, a list for each account. */
const prefix = 'expected:';

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
    const missing = missingOf(topUp);
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

export function keepExpected(state: MonitorState, account: string, topUps: readonly ExpectedTopUp[]): void {
  if (topUps.length > 0) {
    state.expected.set(account, topUps);
    writeNote(state, prefix + account, JSON.stringify(topUps));
  } else {
    state.expected.delete(account);
    state.notes.delete(prefix + account);
  }
}
