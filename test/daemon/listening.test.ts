import { expect, test } from 'vitest';
import type { ChannelListener } from '../../src/ports/channel.ts';
import { minuteMs, smsLow, units } from '../support/account-facts.ts';
import { read, startWorld } from '../support/world.ts';

test('a chat that is lost for ten minutes is told of once on the channels, and its return too; messages go on', async () => {
  const world = await startWorld({ channels: ['ops', 'finance'], rules: [smsLow({ warning: units(200) })] });
  let problem: ReturnType<ChannelListener['problem']> = null;
  let closed = 0;
  const listen = (): ChannelListener => ({
    problem: () => problem,
    close() {
      closed += 1;
    },
  });
  Object.assign(world.channel('ops'), { listen });
  world.daemon.listen(async () => ({ text: '', isPublic: false }));
  // What `listen` was given later is heard with the next configuration.
  world.daemon.listening.adopt([Object.assign(world.channel('ops'), { listen })]);
  expect(world.views.listening()).toEqual([{ name: 'ops', hears: true }]);
  problem = { since: world.now, reason: 'Slack says nothing any more' };
  await world.pass(9 * minuteMs);
  expect(world.news('finance')).toEqual([]);
  expect(world.views.status().problems).toEqual([expect.stringContaining('channel ops hears nothing')]);
  await world.pass(3 * minuteMs);
  expect(world.news('finance')).toEqual(['@lowwater/chat-lost firing warning']);
  expect(await read(world, 100)).toContain('otp/sms-low firing warning');
  await world.pass(30 * minuteMs);
  expect(world.news('finance').filter((news) => news.includes('chat-lost'))).toEqual([]);
  problem = null;
  await world.pass(minuteMs);
  expect(world.news('finance')).toContain('@lowwater/chat-lost resolved warning');
  expect(world.views.status().problems).toEqual([]);
  world.daemon.listening.stop();
  expect(closed).toBeGreaterThan(0);
});
