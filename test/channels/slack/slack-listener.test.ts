import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { buildChannel, channelSchema, createChannel } from '../../../src/channels/registry.ts';
import { openSlackListener } from '../../../src/channels/slack/slack-listener.ts';
import { createForeignTexts } from '../../../src/domain/foreign-text.ts';
import { Secret } from '../../../src/domain/secret.ts';
import type { ChatAnswer, Heard } from '../../../src/ports/channel.ts';
import { systemClock } from '../../../src/system/clock.ts';
import { eventually } from '../../support/eventually.ts';
import {
  appToken,
  blockActions,
  mention,
  socketBotToken,
  startSlackSocket,
} from '../../support/slack-socket.ts';

/** Real time, but pauses between tries are short. */
const clock = {
  ...systemClock,
  setTimer: (ms: number, fire: () => void) =>
    systemClock.setTimer([1000, 2000, 4000].includes(ms) ? 20 : ms, fire),
};

async function listen(
  over: {
    readonly appToken?: string;
    readonly silenceMs?: number;
    readonly finishMs?: number;
    readonly acknowledgeMs?: number;
    readonly passed?: () => number;
  } = {},
) {
  const slack = await startSlackSocket();
  const sooner: Readonly<Record<number, number | undefined>> = {
    90000: over.silenceMs,
    5000: over.finishMs,
    2000: over.acknowledgeMs,
  };
  let held = Promise.resolve();
  const events: Heard[] = [];
  let next: ChatAnswer = { text: 'Ada has it <3', isPublic: true };
  const listener = openSlackListener(
    {
      botToken: new Secret(socketBotToken),
      appToken: new Secret(over.appToken ?? appToken),
      apiUrl: slack.url,
    },
    {
      clock: {
        ...clock,
        monotonic: () => systemClock.monotonic() + (over.passed?.() ?? 0),
        setTimer: (ms, fire) => clock.setTimer(sooner[ms] ?? ms, fire),
      },
      texts: createForeignTexts([appToken]),
    },
    async (event) => {
      events.push(event);
      await held;
      return next;
    },
  );
  onTestFinished(async () => {
    listener.close();
    await slack.close();
  });
  const heard = (count: number) => eventually(`${count} events`, () => events.length >= count);
  const answerWith = (answer: ChatAnswer): void => {
    next = answer;
  };
  const holdUntil = (until: Promise<void>): void => {
    held = until;
  };
  return { slack, events, listener, heard, answerWith, holdUntil };
}

const connected = ({ listener }: Awaited<ReturnType<typeof listen>>) =>
  eventually('a connection', () => listener.problem() === null);

describe('Socket Mode', () => {
  test('that ends while it answers finishes what it acknowledged, as Slack sends that never again, and hears nothing more', async () => {
    const bed = await listen();
    await connected(bed);
    const held = Promise.withResolvers<void>();
    bed.holdUntil(held.promise);
    bed.slack.envelope('interactive', blockActions('0.1.incident-1'));
    await bed.heard(1);
    const closed = bed.listener.close();
    bed.slack.envelope('interactive', blockActions('0.1.incident-2'));
    held.resolve();
    await closed;
    expect(bed.slack.of('chat.postMessage')).toMatchObject([{ text: 'Ada has it &lt;3' }]);
    expect(bed.events).toHaveLength(1);
  });

  test('that ends waits for an answer for some seconds and no longer', async () => {
    const bed = await listen({ finishMs: 20 });
    await connected(bed);
    bed.holdUntil(new Promise(() => undefined));
    bed.slack.envelope('interactive', blockActions('0.1.incident-1'));
    await bed.heard(1);
    await bed.listener.close();
    expect(bed.slack.of('chat.postMessage')).toEqual([]);
  });

  test('acknowledges an envelope once what it asks for is stored, as Slack sends it again until then, and what was done is said in the thread', async () => {
    const bed = await listen({ acknowledgeMs: 60_000 });
    await connected(bed);
    const held = Promise.withResolvers<void>();
    bed.holdUntil(held.promise);
    const id = bed.slack.envelope('interactive', blockActions('0.1.incident-1'));
    await bed.heard(1);
    bed.slack.envelope('interactive', blockActions('0.1.incident-1'), id, 1);
    await pause(50);
    expect(bed.slack.acknowledged).toEqual([]);
    held.resolve();
    await eventually('the acknowledgement', () => bed.slack.acknowledged.includes(id));
    expect(bed.events).toMatchObject([
      {
        ...{ chat: 'C012AB3CD' },
        ...{ person: { id: 'U012AB3CD', name: 'Ada' }, said: { kind: 'button', data: '0.1.incident-1' } },
      },
    ]);
    await eventually('the answer', () => bed.slack.of('chat.postMessage').length === 1);
    expect(bed.slack.of('chat.postMessage')[0]).toMatchObject({
      ...{ channel: 'C012AB3CD', thread_ts: '1795200000.000100', text: 'Ada has it &lt;3' },
    });
    expect(bed.slack.wrong).toEqual([]);
  });

  test('acknowledges what takes long to store before Slack takes it for lost', async () => {
    const bed = await listen();
    await connected(bed);
    bed.holdUntil(new Promise(() => undefined));
    const ids = ['a', 'b'].map((each) => bed.slack.envelope('interactive', blockActions(`0.1.${each}`)));
    await eventually('the acknowledgements', () => bed.slack.acknowledged.length === 2);
    expect(bed.slack.acknowledged).toEqual(ids);
    expect(bed.events).toHaveLength(1);
  });

  test('that ends acknowledges what it stores meanwhile, as it would come again', async () => {
    const bed = await listen({ acknowledgeMs: 60_000 });
    await connected(bed);
    const held = Promise.withResolvers<void>();
    bed.holdUntil(held.promise);
    const id = bed.slack.envelope('interactive', blockActions('0.1.a'));
    await bed.heard(1);
    const closed = bed.listener.close();
    await pause(50);
    expect([bed.slack.connections, bed.slack.acknowledged]).toEqual([1, []]);
    held.resolve();
    await closed;
    await eventually('the end', () => bed.slack.connections === 0);
    expect(bed.slack.acknowledged).toEqual([id]);
  });

  test('that ends acknowledges nothing that takes long to store: the next one hears it again', async () => {
    const bed = await listen({ acknowledgeMs: 300 });
    await connected(bed);
    bed.holdUntil(new Promise(() => undefined));
    bed.slack.envelope('interactive', blockActions('0.1.a'));
    await bed.heard(1);
    void bed.listener.close();
    await eventually('the end', () => bed.slack.connections === 0);
    expect(bed.slack.acknowledged).toEqual([]);
  });

  test('stores what others press while an answer waits for Slack', async () => {
    const bed = await listen({ acknowledgeMs: 60_000 });
    await connected(bed);
    bed.slack.limit('chat.postMessage', 2);
    for (const data of ['0.1.a', '0.1.b']) {
      const actions = [{ type: 'button', value: data, action_ts: data }];
      bed.slack.envelope('interactive', blockActions(data, { actions }));
    }
    await eventually('the acknowledgements', () => bed.slack.acknowledged.length === 2);
    expect(bed.events).toHaveLength(2);
  });

  test('calls who presses as Slack does people, and by the login where it does not say in time', async () => {
    const bed = await listen();
    await connected(bed);
    const press = (data: string) => {
      const actions = [{ type: 'button', value: data, action_ts: data }];
      bed.slack.envelope('interactive', blockActions(data, { actions }));
    };
    bed.slack.hang('users.info');
    press('0.1.a');
    await bed.heard(1);
    bed.slack.hang(null);
    press('0.1.b');
    await bed.heard(2);
    press('0.1.c');
    await bed.heard(3);
    expect(bed.events.map(({ person }) => person.name)).toEqual(['ada', 'Ada', 'Ada']);
    expect(bed.slack.of('users.info')).toHaveLength(2);
  });

  test('says to who pressed alone what is nobody else’s, where it is seen: in a thread only if there was the button', async () => {
    const bed = await listen();
    bed.answerWith({ text: 'because', isPublic: false });
    await connected(bed);
    bed.slack.envelope('interactive', blockActions('6.1.incident-1'));
    const reply = { ts: '1795200007.000700', thread_ts: '1795200000.000100' };
    bed.slack.envelope('interactive', blockActions('6.1.incident-1', { message: reply }));
    const values = { amount: { amount: { value: 'much' } } };
    for (const [id, place] of Object.entries({ V1: 'C012AB3CD 1.1 1.1', V2: 'C012AB3CD 2.2 1.1' }))
      bed.slack.envelope('interactive', {
        type: 'view_submission',
        user: { id: 'U012AB3CD', name: 'ada' },
        view: { id, private_metadata: `${place} 5.1.incident-1`, state: { values } },
      });
    await eventually('the answers', () => bed.slack.of('chat.postEphemeral').length === 4);
    const answers = bed.slack.of('chat.postEphemeral');
    expect(answers[0]).toMatchObject({ user: 'U012AB3CD', text: 'because' });
    expect(answers.map(({ thread_ts }) => thread_ts)).toEqual([
      undefined,
      '1795200000.000100',
      undefined,
      '1.1',
    ]);
  });

  test('says in the thread what was done by a button of a message within it', async () => {
    const bed = await listen();
    await connected(bed);
    const message = { ts: '1795200007.000700', thread_ts: '1795200000.000100' };
    bed.slack.envelope('interactive', blockActions('0.1.incident-1', { message }));
    await eventually('the answer', () => bed.slack.of('chat.postMessage').length === 1);
    expect(bed.slack.of('chat.postMessage')).toMatchObject([{ thread_ts: '1795200000.000100' }]);
  });

  test('says once more what Slack had no time for, after as long as it asks for, and asks again for a name', async () => {
    const bed = await listen();
    await connected(bed);
    bed.answerWith({ text: '*Ada* has it', isPublic: true });
    bed.slack.limit('chat.postMessage');
    bed.slack.envelope('interactive', blockActions('0.1.incident-1'));
    await eventually('the answer', () => bed.slack.of('chat.postMessage').length === 2);
    expect(bed.slack.of('chat.postMessage')[1]).toMatchObject({ text: '∗Ada∗ has it' });
    bed.slack.limit('users.info', 2);
    bed.slack.envelope('events_api', mention('status'));
    await bed.heard(2);
    bed.slack.envelope('events_api', mention('pay'));
    await bed.heard(3);
    expect(bed.events.map(({ person }) => person.name)).toEqual(['Ada', 'U0BEN', 'Ben']);
  });

  test('asks for an amount by a dialog, whose answer comes with what it was about', async () => {
    const bed = await listen();
    const field = (value: string) => ({ label: 'label', value });
    const form = {
      title: 'Ordered',
      data: '5.1.incident-1 x-1',
      amount: field('9300'),
      by: { ...field(''), isOptional: false },
      send: 'Ordered',
    };
    bed.answerWith({ text: '', isPublic: false, form });
    await connected(bed);
    bed.slack.envelope('interactive', blockActions('5.1.incident-1'));
    await eventually('the dialog', () => bed.slack.of('views.open').length === 1);
    const [{ trigger_id, view = '' } = {}] = bed.slack.of('views.open');
    expect(trigger_id).toBe('12345.98765.abcd2358fdea');
    const drawn = JSON.parse(view);
    expect(drawn.blocks[0].element.initial_value).toBe('9300');
    expect(drawn.blocks[1].optional).toBe(false);
    expect(drawn.title.text.length).toBeLessThanOrEqual(24);
    const values = { amount: { amount: { value: '2700' } }, by: { by: { value: 'friday' } } };
    bed.slack.envelope('interactive', {
      type: 'view_submission',
      user: { id: 'U012AB3CD', name: 'ada' },
      view: { id: 'V1', private_metadata: drawn.private_metadata, state: { values } },
    });
    await bed.heard(2);
    expect(bed.events[1]).toMatchObject({
      chat: 'C012AB3CD',
      said: { kind: 'form', data: '5.1.incident-1 x-1', amount: '2700', by: 'friday' },
    });
  });

  test('hears who mentions the bot, by name, and answers in the thread', async () => {
    const bed = await listen();
    await connected(bed);
    bed.slack.envelope('events_api', mention('quiet otp 2h &lt;load&gt; test'));
    await bed.heard(1);
    expect(bed.events[0]).toMatchObject({
      person: { id: 'U0BEN', name: 'Ben' },
      said: { kind: 'text', text: expect.stringMatching(/^\s+quiet otp 2h <load> test$/) },
    });
    await eventually('the answer', () => bed.slack.of('chat.postMessage').length === 1);
    expect(bed.slack.of('chat.postMessage')[0]).toMatchObject({ thread_ts: '1795200010.000200' });
  });

  test('hears as it was written what Slack makes a link, a channel or code of', async () => {
    const bed = await listen();
    await connected(bed);
    const linked =
      '`quiet` <http://api.example.com|api.example.com> 2h <https://x.example/?a=1&amp;b=2> <#C0OPS|ops>';
    bed.slack.envelope('events_api', mention(linked));
    await bed.heard(1);
    const { said } = bed.events[0] ?? {};
    const words = said?.kind === 'text' ? said.text.trim().split(/\s+/) : [];
    expect(words).toEqual(['quiet', 'api.example.com', '2h', 'https://x.example/?a=1&b=2', 'ops']);
  });

  test('hears what is written with a file, or in a thread and the channel', async () => {
    const bed = await listen();
    await connected(bed);
    for (const subtype of ['file_share', 'thread_broadcast'])
      bed.slack.envelope('events_api', mention(`status ${subtype}`, { subtype }));
    const last = bed.slack.envelope('events_api', mention('joined', { subtype: 'channel_join' }));
    await bed.heard(2);
    await eventually('the last', () => bed.slack.acknowledged.includes(last));
    expect(bed.events.map(({ said }) => said)).toMatchObject([
      { text: expect.stringContaining('status file_share') },
      { text: expect.stringContaining('status thread_broadcast') },
    ]);
  });

  test('tells an edit of a mention, which is an event of its own, from a mention', async () => {
    const bed = await listen();
    await connected(bed);
    const edited = { user: 'U0BEN', ts: '1795200020.000000' };
    bed.slack.envelope('events_api', mention('quiet otp 2h'));
    bed.slack.envelope('events_api', mention('quiet otp 2h load test', { edited }));
    await bed.heard(2);
    expect(bed.events.map(({ said }) => said.kind === 'text' && said.isEdited)).toEqual([false, true]);
  });

  test('takes what comes for the first time for new, whatever the clock of this machine says, and by its time what comes again', async () => {
    const bed = await listen();
    await connected(bed);
    const before = Date.now();
    bed.slack.ping();
    bed.slack.envelope('events_api', mention('status'));
    bed.slack.envelope('events_api', mention('pay'), 'again', 2);
    await bed.heard(2);
    expect(bed.events[0]?.at).toBeGreaterThan(before - 60_000);
    expect(bed.events[1]).toMatchObject({ at: 1795200010000.2 });
  });

  test('says when a button was pressed, as a daemon that stood still meanwhile hears of it hours later', async () => {
    const bed = await listen();
    await connected(bed);
    const pressedAt = Date.now() + 1000;
    for (const action_ts of [String(pressedAt / 1000), '1795200009.1'])
      bed.slack.envelope('interactive', blockActions('1.1.a', { actions: [{ value: '1.1.a', action_ts }] }));
    await bed.heard(2);
    expect(bed.events[0]?.at).toBeCloseTo(pressedAt);
    // The connection lived after that: the clock of this machine is wrong.
    expect(bed.events[1]?.at).toBeGreaterThan(pressedAt - 60_000);
  });

  test.each([true, false])('answers in the channel where the thread is gone: %s', async (isPublic) => {
    const bed = await listen();
    await connected(bed);
    bed.answerWith({ text: 'Ada has it', isPublic });
    bed.slack.removeThread();
    const message = { ts: '1795200007.000700', thread_ts: '1795200000.000100' };
    bed.slack.envelope('interactive', blockActions('0.1.a', { message }));
    const method = isPublic ? 'chat.postMessage' : 'chat.postEphemeral';
    await eventually('both calls', () => bed.slack.of(method).length === 2);
    expect(bed.slack.of(method)[1]).toMatchObject({ channel: 'C012AB3CD', text: 'Ada has it' });
    expect(bed.slack.of(method)[1]).not.toHaveProperty('thread_ts');
  });

  test('does once what comes again, and ignores links, other bots and what it does not know', async () => {
    const bed = await listen();
    await connected(bed);
    const link = { type: 'button', action_id: 'lowwater-page', action_ts: '1' };
    bed.slack.envelope('interactive', blockActions('', { actions: [link] }));
    bed.slack.envelope('events_api', mention('status', { bot_id: 'B1' }));
    bed.slack.envelope('interactive', { type: 'message_action' });
    bed.slack.envelope('events_api', { event: null });
    bed.slack.envelope('interactive', blockActions('0.1.a'));
    bed.slack.envelope('interactive', blockActions('0.1.a'));
    const last = bed.slack.envelope('events_api', mention('pay'));
    await eventually('the last', () => bed.slack.acknowledged.includes(last) && bed.events.length >= 2);
    expect(bed.events.map(({ said }) => said.kind)).toEqual(['button', 'text']);
    await eventually('all acknowledgements', () => bed.slack.acknowledged.length === 7);
  });

  test('knows who may act, and where', async () => {
    const bed = await listen();
    await connected(bed);
    bed.slack.envelope('interactive', blockActions('0.1.a'));
    bed.slack.envelope('events_api', mention('status', { channel: 'C0OTHER', user: 'U0BENJAMIN' }));
    bed.slack.envelope(
      'events_api',
      mention('pay', { type: 'message', channel_type: 'im', channel: 'D0BEN', user: 'U0BENJAMIN' }),
    );
    await bed.heard(3);
    const channel = { type: 'slack', botToken: socketBotToken, channel: 'C012AB3CD', appToken };
    const standings = async (actors: object) => {
      const settings = buildChannel('ops', channelSchema.parse({ ...channel, ...actors }));
      const { chat, close } = createChannel(settings, { clock, texts: createForeignTexts([appToken]) });
      await close();
      return Promise.all(bed.events.map((event) => chat?.standing(event)));
    };
    expect(await standings({ actors: ['U0BENJAMIN'] })).toEqual(['stranger', 'elsewhere', 'may act']);
    expect(await standings({})).toEqual(['may act', 'elsewhere', 'elsewhere']);
  });

  test('connects again when Slack asks for it or the line breaks, for ever', async () => {
    const bed = await listen();
    await connected(bed);
    for (let round = 0; round < 3; round++) {
      const { tickets } = bed.slack;
      if (round % 2 === 0) bed.slack.disconnect();
      else bed.slack.drop();
      await eventually(
        'another connection',
        () => bed.slack.tickets > tickets && bed.slack.connections === 1,
      );
      await connected(bed);
    }
    bed.slack.envelope('interactive', blockActions('0.1.a'));
    await bed.heard(1);
  });

  test('repeats no token of what Slack says when it ends a connection', async () => {
    const bed = await listen();
    await connected(bed);
    bed.slack.disconnect(`no more of ${Buffer.from(appToken).toString('hex')}${' and so on'.repeat(50)}`);
    const reason = await eventually('the end', () => bed.listener.problem()?.reason ?? null);
    expect(reason).toBe('Slack asked to connect again ([secret])');
  });

  test('believes a connection that pings, and makes another where nothing comes any more', async () => {
    // A busy machine may not run for a second.
    const bed = await listen({ silenceMs: 2500 });
    await connected(bed);
    for (let round = 0; round < 15; round++) {
      bed.slack.ping();
      await pause(200);
    }
    expect(bed.slack.tickets).toBe(1);
    await eventually('another connection', () => bed.slack.tickets === 2);
    await connected(bed);
  });

  test('takes a flood in its turn: what there is no room for is not acknowledged, and comes again', async () => {
    const bed = await listen();
    await connected(bed);
    for (let press = 0; press < 1000; press++)
      bed.slack.envelope('interactive', blockActions(`0.1.i${press}`, { user: { id: `U0BEN${press}` } }));
    await eventually('all that was acknowledged', () => {
      const { length } = bed.slack.acknowledged;
      return length >= 100 && bed.events.length === length;
    });
    const before = bed.events.length;
    bed.slack.envelope('interactive', blockActions('0.1.after'));
    await bed.heard(before + 1);
  });

  test('never follows an address that is none, or that anybody on the way could read', async () => {
    const bed = await listen();
    await connected(bed);
    for (const address of ['nonsense', 'ws://slack.example.com/link']) {
      const { tickets } = bed.slack;
      bed.slack.hand(address);
      bed.slack.drop();
      await eventually('another try', () => bed.slack.tickets > tickets);
      await eventually('a problem', () => bed.listener.problem()?.reason === 'not what Slack answers');
    }
    bed.slack.hand(null);
    await connected(bed);
  });

  test('says what to write where the dialog does not open any more', async () => {
    const bed = await listen();
    await connected(bed);
    const field = { label: 'Amount', value: '' };
    const by = { ...field, isOptional: true };
    const form = { title: 'Ordered', data: '5.1.a', amount: field, by, send: 'Ordered' };
    bed.answerWith({ text: 'Write: ordered otp 1400 by friday', isPublic: false, form });
    bed.slack.envelope('interactive', blockActions('5.1.a', { trigger_id: 'expired' }));
    await eventually('the words', () => bed.slack.of('chat.postEphemeral').length === 1);
    expect(bed.slack.of('chat.postEphemeral')).toMatchObject([
      { text: 'Write: ordered otp 1400 by friday', user: 'U012AB3CD' },
    ]);
    // The bot hears nothing in a channel that is written without it.
    expect(bed.events).toMatchObject([{ prefix: '@lowwater ' }]);
  });

  test('does all that was pressed on a line that breaks every five seconds', async () => {
    let passed = 0;
    const bed = await listen({ passed: () => passed });
    for (let round = 0; round < 8; round++) {
      await connected(bed);
      bed.slack.envelope('interactive', blockActions(`0.1.i${round}`, { user: { id: `U0BEN${round}` } }));
      await eventually('an acknowledgement', () => bed.slack.acknowledged.length === round + 1);
      passed += 5000;
      bed.slack.drop();
      await eventually('the end', () => bed.listener.problem() !== null);
    }
    await bed.heard(8);
    await eventually('all answers', () => bed.slack.of('chat.postMessage').length === 8);
  });

  test.each(['account_inactive', 'token_revoked'])(
    'a token that ends while it listens (%s) is told as what it is',
    async (error) => {
      const bed = await listen();
      await connected(bed);
      bed.slack.refuse(error);
      bed.slack.disconnect();
      const said = `${error}: check "appToken"`;
      await eventually('the reason', () => bed.listener.problem()?.reason.startsWith(said));
    },
  );

  test('a refused token is told as what it is, without the token', async () => {
    const bed = await listen({ appToken: 'xapp-wrong' });
    await eventually('a refusal', () => bed.listener.problem()?.reason !== 'not connected yet');
    expect(bed.listener.problem()?.reason).toBe(
      'invalid_auth: check "appToken": it is an app-level token (xapp-…) with the scope connections:write',
    );
  });
});
