import { expect, it } from 'vitest';
import { belowRule, dayMs, hourMs, units } from '../support/account-facts.ts';
import { giveAtOnce } from '../support/orders.ts';
import { startWorld } from '../support/world.ts';

it('lists of an account the silences that may mute its alerts, as they reach it', async () => {
  const silence = { cron: '0 0 * * *', timezone: 'UTC', durationMs: hourMs };
  const world = await startWorld({
    silences: [
      { ...silence, match: { currency: ['EUR'] }, comment: 'another currency' },
      { ...silence, match: { not: { account: ['otp'] } }, comment: 'all others' },
      { ...silence, match: { severity: ['warning'] }, comment: 'warnings' },
    ],
  });
  expect(world.views.silences('otp').map(({ comment }) => comment)).toEqual(['warnings']);
  expect(world.views.silences()).toHaveLength(3);
  expect(world.views.silences('nobody')).toEqual([]);
});

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
  const order = {
    kind: 'silence',
    everything: false,
    startsAt: now,
    endsAt: now + 2 * hourMs,
    comment: '',
  } as const;
  giveAtOnce(world, { ...order, match: { account: ['otp'], rule: ['voip-low'] } });
  giveAtOnce(world, { ...order, match: { account: ['another'] } });
  const silenced = async (balance: 'sms' | 'voip') => {
    const query = { account: 'otp', balance, since: now - 3 * dayMs, until: now + dayMs };
    return (await world.views.silenced(query)).map(({ startsAt, endsAt }) => [startsAt, endsAt]);
  };
  expect(await silenced('voip')).toEqual([[now, now + 2 * hourMs]]);
  const nights = await silenced('sms');
  expect(nights).toHaveLength(4);
  for (const [from = 0, to = 0] of nights) expect([from % dayMs, to - from]).toEqual([0, hourMs]);
  // What is over is kept where the rest of the past is.
  await world.pass(3 * hourMs);
  expect(world.views.silences().filter(({ id }) => id !== null)).toEqual([]);
  expect(await silenced('voip')).toEqual([[now, now + 2 * hourMs]]);
});
