import { expect, it } from 'vitest';
import { belowRule, dayMs, hourMs, units } from '../support/account-facts.ts';
import { startWorld } from '../support/world.ts';

it('knows when alerts of a balance were muted, by people and by the configuration', async () => {
  const world = await startWorld({
    rules: [
      belowRule({ id: 'sms-low', thresholds: { warning: units(200) } }),
      belowRule({ id: 'voip-low', balance: 'voip', thresholds: { warning: units(200) } }),
    ],
    silences: [
      {
        match: { account: ['otp'], rule: ['sms-low'] },
        cron: '0 0 * * *',
        timezone: 'UTC',
        durationMs: hourMs,
        comment: 'batch',
      },
    ],
  });
  const now = world.clock.now();
  const order = { startsAt: now, endsAt: now + 2 * hourMs, by: 'Lin', comment: '' };
  world.views.silence({ ...order, match: { account: ['otp'], rule: ['voip-low'] } });
  world.views.silence({ ...order, match: { account: ['another'] } });
  const silenced = (balance: 'sms' | 'voip') =>
    world.views
      .silenced({ account: 'otp', balance, since: now - 3 * dayMs, until: now + dayMs })
      .map(({ startsAt, endsAt }) => [startsAt, endsAt]);
  expect(silenced('voip')).toEqual([[now, now + 2 * hourMs]]);
  expect(silenced('sms')).toHaveLength(4);
  for (const [from = 0, to = 0] of silenced('sms')) expect([from % dayMs, to - from]).toEqual([0, hourMs]);
});
