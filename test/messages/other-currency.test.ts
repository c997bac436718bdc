import { expect, test } from 'vitest';
import { belowRule, minuteMs, units } from '../support/account-facts.ts';
import { makeAccount } from '../support/settings.ts';
import { read, startWorld } from '../support/world.ts';

test('what fires is said in the currency that it was judged in, while the account is read in another one', async () => {
  const world = await startWorld({
    accounts: [makeAccount('otp', { currency: 'CNY' })],
    rules: [belowRule({ id: 'sms-low', thresholds: { warning: units(50) } })],
  });
  await read(world, 30);
  world.provider.set('otp', 4000, { currency: 'USD' });
  await world.pass(5 * minuteMs);
  const alert = await world.views.alert('otp', 'sms-low');
  // 4,000 dollars are neither below 50 yuan nor a recovery from it.
  expect(alert).toMatchObject({
    state: 'firing',
    summary: 'otp: SMS balance 30.00 CNY, below 50.00 (warning)',
  });
});
