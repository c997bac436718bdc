import { balances } from '../domain/reading.ts';
import { alertKindOf } from '../rules/registry.ts';
import { dayMs } from '../spending/burn.ts';
import { emptyAt, type WatchedAccount } from './watched-account.ts';

/**
 * Whether a balance may run out within 24 hours, as foretold (`earliest`), or an alert that says so is pending or fires. What is used up
 * and raises no alert is not watched more closely.
 */
export function isNearEmpty(account: WatchedAccount, now: number): boolean {
  for (const alert of account.alerts.values()) {
    if (alert.state !== 'inactive' && alertKindOf(alert).emptinessRank !== undefined) return true;
  }
  const { reading } = account.poll;
  if (reading === null) return false;
  return balances.some((balance) => {
    const left = reading[balance] - emptyAt(account.settings);
    const earliest = left > 0 ? account.spending.forecastAt(reading, balance, left)?.earliest : null;
    return earliest != null && earliest < now + dayMs;
  });
}
