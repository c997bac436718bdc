import { expect, it } from 'vitest';
import { wordSubject } from '../../src/messages/item-wording.ts';
import type { MissedTopUpRule } from '../../src/rules/missed-top-up.ts';
import { english } from '../../src/wording/language.ts';
import { minuteMs, moneyBase, units } from '../support/account-facts.ts';
import { makeAccount } from '../support/settings.ts';
import { World } from '../support/world.ts';

/** The newest message, as a headline. */
function newest(world: World): string {
  const message = world.channel('ops').attempts.at(-1)?.message;
  const [item] = message?.kind === 'incidents' ? message.items : [];
  return item === undefined ? '' : wordSubject(item, { language: english, now: world.now, timezone: 'UTC' });
}

const account = makeAccount('otp', { creditLimitMicros: null });

it('a credit limit that the provider says moves where the account is empty, over a restart too', async () => {
  const world = new World({ accounts: [account] });
  world.provider.say('otp', -40, { creditLimitMicros: units(30) });
  world.daemon.start();
  await world.pass(minuteMs);
  expect(newest(world)).toBe('otp: pay 40 CNY now, SMS balance is used up');
  await world.restart({ downMs: 0 });
  world.provider.fail('otp');
  await world.pass(minuteMs);
  const view = await world.views.explain('otp');
  expect(JSON.stringify(view)).toContain('critical, used up, at');
});

const recharged: MissedTopUpRule = {
  ...moneyBase,
  id: 'recharge',
  type: 'missed-top-up',
  atMicros: units(100),
  withinMs: 60 * minuteMs,
};

it.each([
  { autoRecharge: false, waits: false, says: 'automatic recharge is off' },
  { autoRecharge: true, waits: true, says: 'did not come at 100.00, balance 90.00 CNY' },
])(
  'a top-up that automatic recharge ($autoRecharge) should bring is missed',
  async ({ autoRecharge, waits, says }) => {
    const world = new World({ rules: [recharged] });
    world.provider.say('otp', 90, { autoRecharge });
    world.daemon.start();
    await world.pass(minuteMs);
    if (waits) {
      expect(world.news()).toEqual([]);
      await world.pass(70 * minuteMs);
    }
    expect(newest(world)).toContain(says);
  },
);
