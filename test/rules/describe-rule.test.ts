import { expect, test } from 'vitest';
import type { Rule } from '../../src/domain/rule.ts';
import { accountServiceBalances } from '../../src/providers/account-service/account-service-kind.ts';
import { describeRule, maxWindow } from '../../src/rules/registry.ts';
import { withBalance } from '../../src/rules/rules-for-account.ts';
import {
  authFailedRule,
  belowRule,
  currencyRule,
  dayMs,
  dropRule,
  hourMs,
  idleRule,
  minuteMs,
  negativeRule,
  runwayRule,
  staleRule,
  topUpRule,
  units,
} from '../support/account-facts.ts';

test.each<[string, Rule]>([
  ['SMS balance below 50.00 (critical), 200.00 (warning), 500.00 (info); resolves 10% above', belowRule()],
  [
    'VoIP balance below -18.383 (info); resolves 10% above',
    belowRule({ balance: 'voip', thresholds: { info: units(-18.383) } }),
  ],
  ['SMS balance below zero (critical)', negativeRule()],
  [
    'SMS balance lasts less than 1d (critical), 3d (warning); by the spending of 1d, 1h at least',
    runwayRule(),
  ],
  [
    'SMS balance above 50.00 lasts less than 1h30m (warning); by the spending of 1d, 1h at least',
    runwayRule({ floorMicros: units(50), thresholds: { warning: 1.5 * hourMs } }),
  ],
  ['more than 100.00 of the SMS balance spent within 1h (warning)', dropRule()],
  [
    'more than 12.5% of the SMS balance spent within 1h (warning)',
    dropRule({ by: { kind: 'share', share: 0.125 } }),
  ],
  ['nothing of the SMS balance spent during 1h (warning)', idleRule()],
  ['SMS balance topped up by 0.01 or more (info)', topUpRule()],
  ['currency differs from the configured one (critical)', currencyRule],
  ['no balance read for 3 poll intervals, at least 2m (warning)', staleRule()],
  ['no balance read for 1h (warning)', staleRule({ afterMs: hourMs })],
  ['the provider refuses the key (critical)', authFailedRule],
  [
    'no balance read for 1h (warning); for 5m; recovered for 10m',
    staleRule({ afterMs: hourMs, forMs: 5 * minuteMs, recoverForMs: 10 * minuteMs }),
  ],
])('%s', (line, rule) => {
  const account = { id: 'otp', labels: {}, currency: null, balances: accountServiceBalances };
  expect(describeRule(withBalance(rule, [account]))).toBe(line);
});

test.each<[string, readonly Rule[], number]>([
  ['a day without rules', [], dayMs],
  ['a day where the rules look back less', [dropRule(), idleRule(), belowRule()], dayMs],
  ['the lookback of a runway', [runwayRule({ lookbackMs: 7 * dayMs }), dropRule()], 7 * dayMs],
  ['the window of a drop', [dropRule({ windowMs: 2 * dayMs })], 2 * dayMs],
  ['three windows of an idle rule, for the gaps in them', [idleRule({ windowMs: 3 * dayMs })], 9 * dayMs],
])('the rules look back %s', (_, rules, expected) => {
  expect(maxWindow(rules)).toBe(expected);
});
