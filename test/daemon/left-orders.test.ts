import { expect, test, vi } from 'vitest';
import { leaveOrder } from '../../src/store/sqlite/orders.ts';
import { minuteMs, smsLow, units } from '../support/account-facts.ts';
import { read, startWorld } from '../support/world.ts';

test('orders are looked for about once a second, however many polls there are, and obeyed within two', async () => {
  const accounts = ['otp', ...Array.from({ length: 1500 }, (_, index) => `account-${index}`)];
  const world = await startWorld(
    { accounts, rules: [smsLow({ warning: units(200) })] },
    { takesOrders: true },
  );
  expect(await read(world, 100)).toEqual(['otp/sms-low firing warning']);
  const look = vi.spyOn(world.database, 'takeOrders');
  const polls = () => [...world.provider.asked.values()].flat().length;
  const before = polls();
  await world.pass(minuteMs);
  expect(polls() - before).toBeGreaterThan(250);
  expect(look.mock.calls.length).toBeGreaterThan(30);
  expect(look.mock.calls.length).toBeLessThanOrEqual(120);
  leaveOrder(world.path, {
    kind: 'acknowledge',
    account: 'otp',
    rule: 'sms-low',
    by: 'ana',
    comment: '',
    at: world.now,
  });
  await world.pass(2000);
  expect(await world.views.alerts({ all: false })).toMatchObject([{ acknowledged: { by: 'ana' } }]);
});
