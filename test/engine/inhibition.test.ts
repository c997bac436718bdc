import { expect, test } from 'vitest';
import type { Alert } from '../../src/domain/alert.ts';
import { isInhibited } from '../../src/engine/inhibition.ts';
import { inactiveAlert } from '../../src/engine/transition.ts';

function firing(rule: string, over: Partial<Alert> = {}): Alert {
  const identity = { account: 'otp', rule, type: 'below', balance: 'sms' } as const;
  return { ...inactiveAlert(identity), state: 'firing', severity: 'warning', incident: `i-${rule}`, ...over };
}

const alert = firing('soft');
const stale = firing('stale', { type: 'stale', balance: null });

test.each([
  ['by a worse one on the same balance', alert, firing('hard', { severity: 'critical' }), true],
  ['not by one of the same severity', alert, firing('hard'), false],
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
    'staleness by a refused key, whatever the severities',
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
] as const)('an alert is inhibited: %s', (_, it, other, expected) => {
  expect(isInhibited(it, [it, other])).toBe(expected);
});
