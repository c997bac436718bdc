import { describe, expect, test } from 'vitest';
import { hourMs, minuteMs, smsLow, units } from '../support/account-facts.ts';
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
  test('a mail about several incidents answers the thread that began first, and names all from old to new', async () => {
    const world = await startWorld(settings);
    world.provider.set('otp', 100);
    await world.pass(30 * minuteMs);
    world.provider.set('ads', 100);
    await world.pass(30 * minuteMs);
    world.provider.set('otp', 10);
    world.provider.set('ads', 10);
    await world.pass(30 * minuteMs);
    const [first, second, grouped] = mails(world);
    // The newer incident stands first in the mail, but the other one began the thread.
    expect(grouped?.notices.map(({ incident }) => incident.account)).toEqual(['ads', 'otp']);
    expect(grouped?.thread?.firstMessage).toBe(first?.id);
    expect(grouped?.thread?.references).toEqual([first?.id, second?.id]);
    expect(grouped?.thread?.subject).toMatch(/^otp:/);
  });
});

describe('an account that cannot be read', () => {
  test.each(['auth_failed', 'timeout'] as const)(
    'is told with how long its last known balance lasts: %s',
    async (failure) => {
      const world = await startWorld({ ...settings, channels: ['mail'] });
      for (let step = 0; step < 30; step++) {
        world.provider.set('otp', 10_000 - step);
        await world.pass(5 * minuteMs);
      }
      world.provider.fail('otp', failure);
      await world.pass(hourMs);
      const notice = mails(world).at(-1)?.notices[0];
      expect(notice?.account?.outlook?.burnPerDay).toBeGreaterThan(units(200));
      expect(notice?.account?.outlook?.runwayMs).toBeGreaterThan(0);
    },
  );
});
