import { expect, test } from 'vitest';
import { cronCalendar } from '../../src/system/calendar.ts';
import { openStoredViews } from '../../src/views/stored-views.ts';
import { belowRule, minuteMs, units } from '../support/account-facts.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { startWorld } from '../support/world.ts';

test('beside a daemon, alerts are shown with the value of the newest reading, not with that of their last change', async () => {
  const world = await startWorld({
    rules: [belowRule({ id: 'sms-low', thresholds: { warning: units(200) } })],
  });
  for (const sms of [150, 140, 130]) {
    world.provider.set('otp', sms);
    await world.pass(5 * minuteMs);
  }
  const { settings, store: reader, clock } = world;
  const views = openStoredViews({ settings, reader, clock, random: seededRandom(), calendar: cronCalendar });
  const own = { value: { unit: 'money', micros: units(130) }, threshold: { micros: units(200) } };
  expect(views.alerts({ all: false })).toMatchObject([{ rule: 'sms-low', state: 'firing', ...own }]);
});
