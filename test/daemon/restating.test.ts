import { describe, expect, it } from 'vitest';
import { minuteMs, smsLow, units } from '../support/account-facts.ts';
import { startWorld, step, type World } from '../support/world.ts';

const parts = { rules: [smsLow({ warning: units(200), critical: units(50) })], channels: ['ops', 'memory'] };

/** A world in which `memory` forgets what is not repeated, with an alert that fires. */
async function firing(): Promise<World> {
  const world = await startWorld(parts);
  world.channel('memory').restateEveryMs = minuteMs;
  await world.reload(parts);
  world.provider.set('otp', 100);
  await world.pass(step);
  world.news();
  world.news('memory');
  return world;
}

const again = 'otp/sms-low reminder warning';

describe('a receiver that forgets what is not repeated', () => {
  it('gets what fires again every minute, and other channels do not', async () => {
    const world = await firing();
    await world.pass(3 * minuteMs);
    expect(world.news('memory')).toEqual([again, again, again]);
    expect(world.news()).toEqual([]);
  });

  it('gets it at once after a start', async () => {
    const world = await firing();
    await world.restart({ downMs: minuteMs });
    await world.pass(1000);
    expect(world.news('memory')).toEqual([again]);
  });

  it('gets it while a silence holds and after somebody took it: that it is quiet is no end', async () => {
    const world = await firing();
    await world.reload({
      ...parts,
      silences: [{ match: {}, cron: '* * * * *', durationMs: 10 * minuteMs, timezone: 'UTC', comment: '' }],
    });
    await world.pass(2 * minuteMs);
    expect(world.news('memory')).toContain(again);
  });

  it('hears of what got worse during a silence when that ends, and not before', async () => {
    const world = await firing();
    const comment = '';
    const silence = { match: {}, cron: '* * * * *', durationMs: 10 * minuteMs, timezone: 'UTC', comment };
    await world.reload({ ...parts, silences: [silence] });
    world.provider.set('otp', 40);
    await world.pass(step + 2 * minuteMs);
    const during = world.news('memory');
    expect(during).toContain(again);
    expect(during.join()).not.toContain('critical');
    // Nor is it told that another severity is over.
    expect(world.channel('memory').attempts.at(-1)?.message).toMatchObject({
      items: [{ incident: { worstSeverity: 'warning', rises: 0 } }],
    });
    await world.reload(parts);
    await world.pass(2 * minuteMs);
    expect(world.news('memory')).toEqual(
      expect.arrayContaining(['otp/sms-low worse critical', 'otp/sms-low reminder critical']),
    );
  });

  it('is repeated nothing once it is over', async () => {
    const world = await firing();
    world.provider.set('otp', 1000);
    await world.pass(step);
    expect(world.news('memory').at(-1)).toContain('resolved');
    await world.pass(3 * minuteMs);
    // Messages about nothing: a sender adds what one of its receivers missed.
    expect(world.news('memory')).toEqual(['', '', '']);
  });

  it('is told of on the other channels when it takes nothing for ten minutes, until it does', async () => {
    const world = await firing();
    world.channel('memory').mood = 'down';
    await world.pass(11 * minuteMs);
    expect(world.news().join()).toContain('@lowwater/channel-failed:memory firing');
    world.channel('memory').mood = 'up';
    await world.pass(2 * minuteMs);
    expect(world.news().join()).toContain('@lowwater/channel-failed:memory resolved');
  });
});
