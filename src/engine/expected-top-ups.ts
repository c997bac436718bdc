import { hasArrived, missingOf } from '../domain/operator.ts';
import { amountOf, type Reading } from '../domain/reading.ts';
import type { MonitorState, WatchedAccount } from './state.ts';

/** A balance that rose received what was expected first; what has arrived is expected no more. `previous`: null where nothing can be compared. */
export function receiveTopUps(state: MonitorState, account: WatchedAccount, previous: Reading | null): void {
  const { reading } = account.poll;
  const known = state.expected.get(account.id);
  if (known === undefined || reading === null || previous === null) return;
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
  if (changed) state.expected.set(account.id, coming);
}
