import type { Alert } from '../domain/alert.ts';
import { isWorse } from '../domain/severity.ts';
import { alertKindOf } from '../rules/registry.ts';

/**
 * Whether another firing alert of the same account already says what this one would: a worse one on the same
 * balance, or a refused key, which explains why readings are stale.
 */
export function isInhibited(alert: Alert, others: Iterable<Alert>): boolean {
  for (const other of others) {
    if (other.state !== 'firing' || other.rule === alert.rule) continue;
    if (alertKindOf(alert).unread === 'means' && alertKindOf(other).unread === 'explains') return true;
    if (alert.balance !== null && other.balance === alert.balance && isWorse(other.severity, alert.severity))
      return true;
  }
  return false;
}
