import { describe, expect, test } from 'vitest';
import { Secret } from '../../src/domain/secret.ts';
import { messageSubject } from '../../src/messages/message-wording.ts';
import { hourMs, minuteMs, smsLow, topUpRule, units } from '../support/account-facts.ts';
import { incidentMessage } from '../support/recording-channel.ts';
import { makeRoute } from '../support/settings.ts';
import { startWorld, type World } from '../support/world.ts';

const rule = smsLow({ warning: units(200), critical: units(50) });
const settings = {
  accounts: ['otp', 'ads'],
  rules: [rule],
  channels: ['mail'],
  routes: [makeRoute({ channels: ['mail'], repeatEveryMs: hourMs, groupWaitMs: 20 * minuteMs })],
};

function mails(world: World) {
  return world.channel('mail').delivered.map((received) => incidentMessage(received));
}

describe('threads of mail', () => {
  test('a mail joins a thread only when all of its incidents began there', async () => {
    const world = await startWorld(settings);
    world.provider.set('otp', 100);
    await world.pass(30 * minuteMs);
    world.provider.set('ads', 100);
    await world.pass(30 * minuteMs);
    world.provider.set('otp', 10);
    world.provider.set('ads', 10);
    await world.pass(30 * minuteMs);
    world.provider.set('ads', 1000);
    await world.pass(30 * minuteMs);
    const [, second, grouped, ended] = mails(world);
    expect(grouped?.items.map(({ incident }) => incident.account)).toEqual(['ads', 'otp']);
    expect(grouped?.thread).toBeNull();
    expect(ended?.thread).toEqual({
      firstMessage: second?.id,
      references: [second?.id],
      othersFiring: null,
      subject: expect.stringMatching(/^ads:/),
    });
  });

  test('the end that a removed receiver reads stands in the thread of what it ends', async () => {
    const world = await startWorld(settings);
    world.provider.set('otp', 100);
    await world.pass(30 * minuteMs);
    const [first] = mails(world);
    const old = world.channel('mail');
    const channels = world.settings.channels.map((channel) => ({
      ...channel,
      place: new Secret('elsewhere'),
    }));
    world.channels.delete('mail');
    await world.daemon.reload({ ...world.settings, channels });
    await world.pass(minuteMs);
    const [farewell] = old.delivered.slice(1).map((received) => incidentMessage(received));
    expect(farewell?.items[0]?.resolution).toEqual({ kind: 'channel-removed' });
    expect(farewell?.thread).toMatchObject({
      firstMessage: first?.id,
      subject: expect.stringMatching(/^otp:/),
    });
  });
});

describe('the subject of a thread that was begun for several', () => {
  test('says RESOLVED only when the last of them ended, and until then how bad the worst is', async () => {
    const world = await startWorld(settings);
    world.provider.set('otp', 10);
    world.provider.set('ads', 100);
    await world.pass(30 * minuteMs);
    for (const [account, balance] of [
      ['ads', 1000],
      ['otp', 1000],
    ] as const) {
      world.provider.set(account, balance);
      await world.pass(30 * minuteMs);
    }
    const subjects = mails(world).map((mail) => messageSubject(mail));
    const rest = subjects[0]?.replace('CRITICAL ', '');
    // The one that ends first stands first, and the worst of both is the first word.
    expect(rest).toMatch(/^ads: .* and 1 more alert$/);
    expect(subjects).toEqual([`CRITICAL ${rest}`, `CRITICAL ${rest}`, `RESOLVED ${rest}`]);
  });
});

test('a mail about the end of an alert and the top-up that ended it says RESOLVED, and of which alert', async () => {
  const world = await startWorld({ ...settings, rules: [rule, topUpRule({ id: 'topped-up' })] });
  world.provider.set('otp', 100);
  await world.pass(30 * minuteMs);
  const [began] = mails(world).map((mail) => messageSubject(mail));
  world.provider.set('otp', 1000);
  await world.pass(30 * minuteMs);
  const ended = mails(world).at(-1);
  expect(ended?.items.map((item) => item.rule)).toEqual(['sms-low', 'topped-up']);
  expect(ended && messageSubject(ended)).toBe(`${began?.replace('WARNING', 'RESOLVED')} and 1 more alert`);
});

describe('what a receiver calls a message', () => {
  test('is known of everything that it first sent, over a restart too, and does not change', async () => {
    const routes = [
      makeRoute({ channels: ['mail'], repeatEveryMs: 24 * hourMs, groupWaitMs: 20 * minuteMs }),
    ];
    const world = await startWorld({ ...settings, routes });
    world.channel('mail').namesMessages = true;
    world.provider.set('otp', 100);
    world.provider.set('ads', 100);
    await world.pass(30 * minuteMs);
    await world.restart({ downMs: minuteMs });
    world.provider.set('otp', 10);
    await world.pass(30 * minuteMs);
    world.provider.set('otp', 1000);
    await world.pass(30 * minuteMs);
    const [first, ...later] = mails(world);
    expect(first?.items.map(({ receipt }) => receipt)).toEqual([null, null]);
    expect(later.length).toBeGreaterThan(1);
    for (const mail of later) {
      expect(mail.items.map(({ receipt, incident }) => [incident.account, receipt])).toEqual([
        ['otp', 'sent 1'],
      ]);
      // All of that message, the most urgent first.
      expect(mail.companions.map(({ receipt, incident }) => [incident.account, receipt])).toEqual([
        ['ads', 'sent 1'],
        ['otp', 'sent 1'],
      ]);
    }
  });
});

describe('an account that cannot be read', () => {
  test.each(['auth_failed', 'timeout'] as const)(
    'is reported with how long its last known balance lasts: %s',
    async (failure) => {
      const world = await startWorld({ ...settings, channels: ['mail'] });
      for (let step = 0; step < 30; step++) {
        world.provider.set('otp', 10_000 - step);
        await world.pass(5 * minuteMs);
      }
      world.provider.fail('otp', failure);
      await world.pass(hourMs);
      const item = mails(world).at(-1)?.items[0];
      expect(item?.account?.runway?.burnPerDay).toBeGreaterThan(units(200));
      expect(item?.account?.runway?.runwayMs).toBeGreaterThan(0);
    },
  );
});
