import { type ExpectedTopUp, hasArrived, missingOf } from '../domain/operator.ts';
import { amountOf, type Reading } from '../domain/reading.ts';
import type { MonitorState, WatchedAccount } from './state.ts';

/** Counts a rise for the top-up that should have come first; one that arrived is no longer expected. `previous`: null when nothing can be compared. */
export function receiveTopUps(state: MonitorState, account: WatchedAccount, previous: Reading | null): void {
  const { reading } = account.poll;
  const known = state.expected.get(account.id);
  if (known === undefined || reading === null || previous === null) return;
  const rises = new Map(
    Object.entries(reading.balances).map(([balance, now]) => [balance, now - amountOf(previous, balance)]),
  );
  const after = new Map<ExpectedTopUp, ExpectedTopUp>();
  for (const topUp of known.toSorted((left, right) => left.by - right.by)) {
    const rise = rises.get(topUp.balance) ?? 0;
    if (rise <= 0) continue;
    const missing = missingOf(topUp);
    rises.set(topUp.balance, rise - missing);
    after.set(topUp, { ...topUp, receivedMicros: topUp.receivedMicros + Math.min(rise, missing) });
  }
  const coming = known.map((topUp) => after.get(topUp) ?? topUp).filter((topUp) => !hasArrived(topUp));
  if (after.size > 0) state.expected.set(account.id, coming);
}
