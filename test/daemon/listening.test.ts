import { expect, test } from 'vitest';
import type { ChannelChat, ChannelListener, ChatEvent, Heard } from '../../src/ports/channel.ts';
import { dayMs, hourMs, minuteMs, smsLow, units } from '../support/account-facts.ts';
import { read, startWorld } from '../support/world.ts';

test('a chat that is lost for ten minutes is told of once on the channels, and its return too; messages go on', async () => {
  const world = await startWorld({ channels: ['ops', 'finance'], rules: [smsLow({ warning: units(200) })] });
  let problem: ReturnType<ChannelListener['problem']> = null;
  let closed = 0;
  const chat: ChannelChat = {
    bot: 'xapp-1',
    standing: async () => 'may act',
    listen: () => ({
      problem: () => problem,
      async close() {
        closed += 1;
      },
    }),
  };
  world.daemon.listen(async () => ({ text: '', isPublic: false }));
  world.daemon.listening.adopt([Object.assign(world.channel('ops'), { chat })]);
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
  // Another configuration is loaded meanwhile: that is no return.
  world.daemon.listening.adopt([world.channel('ops')]);
  problem = { since: world.now, reason: 'not connected yet' };
  await world.pass(minuteMs);
  expect(world.news('finance').filter((news) => news.includes('chat-lost'))).toEqual([]);
  problem = null;
  await world.pass(minuteMs);
  expect(world.news('finance')).toContain('@lowwater/chat-lost resolved warning');
  expect(world.views.status().problems).toEqual([]);
  world.daemon.listening.stop();
  expect(closed).toBeGreaterThan(0);
});

test.each([8 * hourMs, -2 * dayMs])(
  'a chat that was lost when the clock jumped by %i ms is told of once it was lost for ten minutes that somebody watched',
  async (byMs) => {
    const world = await startWorld({ channels: ['ops', 'finance'], rules: [] });
    const problem = { since: world.now, reason: 'the connection was lost' };
    const chat: ChannelChat = {
      bot: 'xapp-1',
      standing: async () => 'may act',
      listen: () => ({ problem: () => problem, close: async () => undefined }),
    };
    world.daemon.listen(async () => ({ text: '', isPublic: false }));
    world.daemon.listening.adopt([Object.assign(world.channel('ops'), { chat })]);
    await world.pass(2 * minuteMs);
    world.clock.jump(byMs);
    await world.pass(7 * minuteMs);
    expect(world.news('finance')).toEqual([]);
    await world.pass(3 * minuteMs);
    expect(world.news('finance')).toEqual(['@lowwater/chat-lost firing warning']);
  },
);

test('a chat that was lost before a restart is not said to be heard again until it is', async () => {
  const world = await startWorld({ channels: ['ops', 'finance'], rules: [] });
  let problem: ReturnType<ChannelListener['problem']> = { since: world.now, reason: 'not connected' };
  const chat: ChannelChat = {
    bot: 'xapp-1',
    standing: async () => 'may act',
    listen: () => ({ problem: () => problem, close: async () => undefined }),
  };
  const hear = (): void => {
    world.daemon.listen(async () => ({ text: '', isPublic: false }));
    world.daemon.listening.adopt([Object.assign(world.channel('ops'), { chat })]);
  };
  hear();
  await world.pass(12 * minuteMs);
  expect(world.news('finance')).toEqual(['@lowwater/chat-lost firing warning']);
  await world.restart({ downMs: minuteMs });
  problem = { since: world.now, reason: 'not connected yet' };
  hear();
  await world.pass(12 * minuteMs);
  expect(world.news('finance').filter((news) => news.includes('chat-lost'))).toEqual([]);
  problem = null;
  await world.pass(minuteMs);
  expect(world.news('finance')).toContain('@lowwater/chat-lost resolved warning');
});

test('channels of one bot are heard by one connection: each is asked whether the chat is its own', async () => {
  const world = await startWorld({ channels: ['ops', 'finance'], rules: [] });
  const events: ChatEvent[] = [];
  let heard: Parameters<ChannelChat['listen']>[0] | null = null;
  let opened = 0;
  const chatOf = (place: string, actors: readonly string[]): ChannelChat => ({
    bot: 'xapp-1',
    standing: async ({ chat, person }) =>
      chat !== place ? 'elsewhere' : actors.includes(person.id) ? 'may act' : 'stranger',
    listen(answer) {
      opened += 1;
      heard = answer;
      return { problem: () => null, close: async () => undefined };
    },
  });
  world.daemon.listen(async (event) => {
    events.push(event);
    return { text: '', isPublic: false };
  });
  world.daemon.listening.adopt([
    Object.assign(world.channel('ops'), { chat: chatOf('C0OPS', ['U1']) }),
    Object.assign(world.channel('finance'), { chat: chatOf('C0FIN', ['U2']) }),
  ]);
  const press = (chat: string, id: string) =>
    heard?.({
      id: `${chat} ${id}`,
      chat,
      person: { id, name: id },
      said: { kind: 'text', text: 'status' },
    } satisfies Heard);
  for (const [chat = '', id = ''] of [
    ['C0OPS', 'U1'],
    ['C0FIN', 'U2'],
    ['C0FIN', 'U1'],
    ['C0OTHER', 'U1'],
  ])
    await press(chat, id);
  expect(opened).toBe(1);
  expect(world.views.listening().map(({ name }) => name)).toEqual(['ops', 'finance']);
  expect(events.map(({ channel, standing }) => `${channel} ${standing}`)).toEqual([
    'ops may act',
    'finance may act',
    'finance stranger',
    'ops elsewhere',
  ]);
});

test('of two channels in one chat, each in a topic of its own, that of the topic answers, whoever may act in the other', async () => {
  const world = await startWorld({ channels: ['ops', 'finance'], rules: [] });
  const channels: string[] = [];
  const heard: Parameters<ChannelChat['listen']>[0][] = [];
  const chatOf = (topic: string | undefined, actor: string): ChannelChat => ({
    ...{ bot: 'token', topic },
    standing: async ({ person }) => (person.id === actor ? 'may act' : 'stranger'),
    listen(answer) {
      heard.push(answer);
      return { problem: () => null, close: async () => undefined };
    },
  });
  world.daemon.listen(async ({ channel, standing }) => {
    channels.push(`${channel} ${standing}`);
    return { text: '', isPublic: false };
  });
  world.daemon.listening.adopt([
    Object.assign(world.channel('ops'), { chat: chatOf('5', '1') }),
    Object.assign(world.channel('finance'), { chat: chatOf('9', '2') }),
  ]);
  const said = { kind: 'text', text: 'status' } as const;
  for (const topic of ['9', '5', '7', undefined])
    await heard[0]?.({ id: '1', chat: '-100', topic, person: { id: '1', name: 'Ada' }, said });
  expect(channels).toEqual(['finance stranger', 'ops may act', 'ops may act', 'ops may act']);
});
