import { expect, test } from 'vitest';
import type { Alert } from '../../src/domain/alert.ts';
import type { Quantity } from '../../src/domain/quantity.ts';
import { inhibits } from '../../src/engine/inhibit.ts';
import { inactiveAlert } from '../../src/engine/transition.ts';

function money(amount: number): Quantity {
  return { unit: 'money', micros: amount * 1_000_000 };
}

function firing(rule: string, over: Partial<Alert> = {}): Alert {
  const identity = { account: 'otp', rule, type: 'below', balance: 'sms' } as const;
  return { ...inactiveAlert(identity), state: 'firing', severity: 'warning', incident: `i-${rule}`, ...over };
}

const alert = firing('soft', { threshold: money(200) });
const stale = firing('stale', { type: 'stale', balance: null });

test.each([
  ['by a worse one on the same balance', alert, firing('hard', { severity: 'critical' }), true],
  [
    'by what is empty at the same severity',
    alert,
    firing('zero', { type: 'negative', threshold: money(0) }),
    true,
  ],
  ['not by what will be empty', alert, firing('soon', { type: 'runway' }), false],
  ['what will be empty by what is low', firing('soon', { type: 'runway' }), alert, true],
  ['by a deeper threshold at the same severity', alert, firing('hard', { threshold: money(10) }), true],
  ['not by a higher threshold', firing('hard', { threshold: money(10) }), alert, false],
  ['by one of two that say the same', alert, firing('a-twin', { threshold: alert.threshold }), true],
  ['not by the other of them', firing('a-twin', { threshold: alert.threshold }), alert, false],
  ['not by spending that is odd', alert, firing('burst', { type: 'drop', severity: 'critical' }), false],
  [
    'not odd spending by an empty balance',
    firing('burst', { type: 'drop' }),
    firing('hard', { severity: 'critical' }),
    false,
  ],
  ['not by a milder one', alert, firing('hard', { severity: 'info' }), false],
  [
    'not by one on the other balance',
    alert,
    firing('hard', { severity: 'critical', balance: 'voip' }),
    false,
  ],
  ['not by one that is pending', alert, firing('hard', { severity: 'critical', state: 'pending' }), false],
  ['not by itself', alert, { ...alert, severity: 'critical' } satisfies Alert, false],
  [
    'staleness by a refused key, regardless of the severities',
    { ...stale, severity: 'critical' } satisfies Alert,
    firing('key', { type: 'auth-failed', balance: null, severity: 'info' }),
    true,
  ],
  ['not staleness by a low balance', stale, firing('hard', { severity: 'critical' }), false],
  [
    'not a low balance by a refused key',
    alert,
    firing('key', { type: 'auth-failed', balance: null, severity: 'critical' }),
    false,
  ],
  [
    'not a refused key by staleness',
    firing('key', { type: 'auth-failed', balance: null }),
    { ...stale, severity: 'critical' } satisfies Alert,
    false,
  ],
] as const)('an alert is spoken for: %s', (_, it, other, expected) => {
  expect(inhibits(other, it)).toBe(expected);
});
