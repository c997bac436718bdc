import { expect, test } from 'vitest';
import { smsLow, units } from '../support/account-facts.ts';
import { read, step, World } from '../support/world.ts';

test('after the first poll each channel renders an alert once; nothing is sent or kept, and one that cannot hinders nobody', async () => {
  const world = new World({
    rules: [smsLow({ warning: units(200) })],
    channels: ['ops', 'finance', 'night'],
  });
  const rendered: string[] = [];
  for (const [name, channel] of world.channels)
    channel.preview = async (message) => {
      rendered.push(`${name} ${message.kind}`);
      if (name === 'ops') throw new Error('cannot be rendered');
      return '';
    };
  world.daemon.start();
  await read(world, 1000);
  await world.pass(3 * step);
  await expect.poll(() => rendered).toEqual(['ops incidents', 'finance incidents', 'night incidents']);
  for (const { attempts } of world.channels.values()) expect(attempts).toEqual([]);
  expect(await world.views.notifications(10)).toEqual([]);
  expect(world.daemon.state.incidents.size).toBe(0);
});
