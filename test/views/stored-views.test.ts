import { expect, test, vi } from 'vitest';
import type { BudgetRule } from '../../src/rules/budget.ts';
import { AccountSpending } from '../../src/spending/account-spending.ts';
import { cronCalendar } from '../../src/system/calendar.ts';
import { accountJson } from '../../src/views/account-json.ts';
import { alertJson } from '../../src/views/public-json.ts';
import { sortAlerts } from '../../src/views/sort-alerts.ts';
import { openStoredViews } from '../../src/views/stored-views.ts';
import { belowRule, minuteMs, units } from '../support/account-facts.ts';
import { asAnyRule } from '../support/any-rule.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { startWorld } from '../support/world.ts';

/** The views of a command beside the daemon of a world. */
function viewsOf({ settings, store: reader, clock }: Awaited<ReturnType<typeof startWorld>>) {
  return openStoredViews({ settings, reader, clock, random: seededRandom(), calendar: cronCalendar });
}

test('next to a daemon, alerts are shown with the value of the newest reading, not with that of their last change', async () => {
  const world = await startWorld({
    rules: [belowRule({ id: 'sms-low', thresholds: { warning: units(200) } })],
  });
  for (const sms of [150, 140, 130]) {
    world.provider.set('otp', sms);
    await world.pass(5 * minuteMs);
  }
  const views = await viewsOf(world);
  const own = { value: { unit: 'money', micros: units(130) }, threshold: { micros: units(200) } };
  expect(await views.alerts({ all: false })).toMatchObject([{ rule: 'sms-low', state: 'firing', ...own }]);
});

test('the worst of what is due now stands first, though one alert after the other is looked at', async () => {
  const world = await startWorld({
    rules: [
      belowRule({ id: 'early', thresholds: { warning: units(200) } }),
      belowRule({ id: 'late', thresholds: { critical: units(100) } }),
    ],
  });
  world.provider.set('otp', 0);
  await world.pass(5 * minuteMs);
  const { clock } = world;
  let now = clock.now();
  clock.now = () => now++;
  const views = await viewsOf(world);
  const alerts = await views.alerts({ all: false });
  expect(sortAlerts(alerts).map(({ rule }) => rule)).toEqual(['late', 'early']);
});

test('the balances of an account are forecast once for all of its alerts, beside what each alert says of its own', async () => {
  const rules = Array.from({ length: 20 }, (_, index) =>
    belowRule({ id: `below-${index}`, thresholds: { warning: units(200) } }),
  );
  const world = await startWorld({ rules });
  world.provider.set('otp', 100);
  await world.pass(5 * minuteMs);
  const views = await viewsOf(world);
  const forecast = vi.spyOn(AccountSpending.prototype, 'forecast');
  expect(await views.alerts({ all: false })).toHaveLength(20);
  const forAlerts = forecast.mock.calls.length;
  expect(await views.explain('otp')).toHaveLength(world.settings.rules.length);
  const forRules = forecast.mock.calls.length - forAlerts;
  forecast.mockRestore();
  // How long its balance lasts, and what to pay.
  const ownForecasts = 2 * rules.length;
  expect(Math.max(forAlerts, forRules)).toBeLessThan(1.2 * ownForecasts);
});

test('in the first hour, of which nothing is summed up yet, a budget is judged by the stored readings', async () => {
  const { hysteresis: _, ...common } = belowRule({ id: 'day' });
  const budget: BudgetRule = {
    ...common,
    type: 'budget',
    per: 'day',
    by: 'spent',
    thresholds: { warning: units(10) },
  };
  const world = await startWorld({ rules: [asAnyRule(budget)] });
  for (const sms of [150, 140, 130]) {
    world.provider.set('otp', sms);
    await world.pass(5 * minuteMs);
  }
  const views = await viewsOf(world);
  expect((await views.explain('otp')).slice(0, 1)).toMatchObject([
    { evaluation: { kind: 'breached', threshold: { micros: units(10) } } },
  ]);
});

test('an alert says when its account is empty as the account does, until it is resolved', async () => {
  const world = await startWorld({
    rules: [belowRule({ id: 'sms-low', thresholds: { warning: units(200) } })],
  });
  for (let poll = 0; poll < 30; poll++) {
    world.provider.set('otp', 150 - poll);
    await world.pass(5 * minuteMs);
  }
  const views = await viewsOf(world);
  const [alert] = (await views.alerts({ all: false })).map(alertJson);
  expect(alert?.forecast.sms).toMatchObject({ basis: 'mean-burn', emptyAt: expect.any(String) });
  const [account] = (await views.accounts()).map(accountJson);
  expect(alert?.forecast).toEqual(account?.forecast);
  world.provider.set('otp', 900);
  await world.pass(5 * minuteMs);
  const after = (await (await viewsOf(world)).alerts({ all: true })).map(alertJson);
  expect(after).toMatchObject([{ state: 'resolved', forecast: { sms: null, voip: null } }]);
});
