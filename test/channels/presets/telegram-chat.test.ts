import { describe, expect, onTestFinished, test } from 'vitest';
import { telegramChat } from '../../../src/channels/presets/telegram-chat.ts';
import type { PostSettings } from '../../../src/channels/receiver.ts';
import { buildChannel, channelSchema, createChannel } from '../../../src/channels/registry.ts';
import { createForeignTexts } from '../../../src/domain/foreign-text.ts';
import type { ChatAnswer, Heard } from '../../../src/ports/channel.ts';
import { systemClock } from '../../../src/system/clock.ts';
import { eventually } from '../../support/eventually.ts';
import { buildItem, buildMessage } from '../../support/messages.ts';
import {
  pressed,
  startTelegramApi,
  telegramGroup,
  telegramToken,
  written,
} from '../../support/telegram-api.ts';

const texts = createForeignTexts([telegramToken]);
/** Real time, but pauses between tries are short. */
const clock = {
  ...systemClock,
  setTimer: (ms: number, fire: () => void) =>
    systemClock.setTimer([1000, 2000, 4000, 8000, 16_000, 32_000].includes(ms) ? 20 : ms, fire),
};

async function start(over: object = {}) {
  const telegram = await startTelegramApi();
  onTestFinished(() => telegram.close());
  const keys = { type: 'telegram', botToken: telegramToken, chatId: '-100123', baseUrl: telegram.url };
  // Channels of presets hold what `postKind` builds.
  const settings = buildChannel('ops', channelSchema.parse({ ...keys, ...over })) as PostSettings;
  return { telegram, settings };
}

async function listen(over: object = {}) {
  const { telegram, settings } = await start({ listen: true, ...over });
  const events: Heard[] = [];
  let next: ChatAnswer = { text: 'Ada has it', isPublic: true };
  const answerWith = (answer: ChatAnswer): void => {
    next = answer;
  };
  let held = Promise.resolve();
  const holdUntil = (until: Promise<void>): void => {
    held = until;
  };
  const listener = telegramChat.listen(settings, { clock, texts }, async (event) => {
    events.push(event);
    await held;
    return next;
  });
  onTestFinished(() => listener.close());
  await eventually('a connection', () => listener.problem() === null);
  const answered = (method: string, count = 1) =>
    eventually(`${count} ${method}`, () => telegram.of(method).length >= count && telegram.of(method));
  return { telegram, settings, listener, events, answerWith, holdUntil, answered };
}

const standingsOf = (settings: PostSettings, events: readonly Heard[]) =>
  Promise.all(events.map((event) => telegramChat.standing(settings, event, { clock, texts })));

describe('a bot that listens', () => {
  test('answers a button, and its message says who has it and offers it no more', async () => {
    const { telegram, events, answered } = await listen();
    telegram.update(pressed('0.1.incident-1'));
    const [edit] = await answered('editMessageText');
    expect(events).toMatchObject([
      {
        ...{ id: '101', chat: '-100123', prefix: '/' },
        ...{ person: { id: '7', name: 'Ada L.' }, said: { kind: 'button', data: '0.1.incident-1' } },
      },
    ]);
    expect(telegram.of('answerCallbackQuery')).toEqual([
      { callback_query_id: 'query-1', text: 'Ada has it', show_alert: false },
    ]);
    expect(edit).toMatchObject({
      ...{ chat_id: -100123, message_id: 5, text: 'CRITICAL\n\n✓ Ada has it' },
      reply_markup: { inline_keyboard: [[{ callback_data: '6.1.other' }]] },
    });
    expect(telegram.wrong).toEqual([]);
  });

  test('says since when a button may have been pressed, and replies where it is too late to answer it', async () => {
    const { telegram, events, answerWith, answered } = await listen();
    answerWith({ text: 'too late', isPublic: false });
    telegram.update(pressed('0.1.a', { id: 'query-old' }));
    expect(await answered('sendMessage')).toMatchObject([{ text: 'too late' }]);
    expect(events[0]?.at).toBeGreaterThan(Date.now() - 60_000);
  });

  test.each([4, 6])(
    'takes none of %i buttons that were pressed while nobody listened for one pressed now, and the next one for that',
    async (count) => {
      const { telegram, settings } = await start({ listen: true });
      const message = { message_id: 5, date: 1_795_200_000, chat: telegramGroup, text: 'CRITICAL' };
      for (let index = 0; index < count; index += 1) telegram.update(pressed('1.1.a', { message }));
      const times: number[] = [];
      const listener = telegramChat.listen(settings, { clock, texts }, async ({ at = 0 }) => {
        times.push(at);
        return { text: 'late', isPublic: false };
      });
      onTestFinished(() => listener.close());
      await eventually('a long poll', () => telegram.of('getUpdates').at(-1)?.timeout === 50);
      expect(times).toEqual(Array.from({ length: count }, () => 1_795_200_000_000));
      telegram.update(pressed('1.1.a', { message }));
      await eventually('the next', () => times.length > count);
      expect(times.at(-1)).toBeGreaterThan(Date.now() - 60_000);
    },
  );

  test('says to who asked what is nobody else’s, and in a reply what is too long for that', async () => {
    const { telegram, answerWith, answered } = await listen();
    answerWith({ text: 'because', isPublic: false });
    telegram.update(pressed('6.1.a'));
    expect(await answered('answerCallbackQuery')).toMatchObject([{ text: 'because', show_alert: true }]);
    answerWith({ text: 'x'.repeat(5000), isPublic: false });
    telegram.update(pressed('6.1.b'));
    expect(await answered('sendMessage')).toMatchObject([{ reply_parameters: { message_id: 5 } }]);
    expect(telegram.wrong).toEqual([]);
  });

  test('answers commands to it, in the topic where they were written, and leaves other talk alone', async () => {
    const { telegram, events, answered } = await listen();
    telegram.update(written('lunch?'));
    telegram.update(written('/status@other_bot'));
    telegram.update(written('/status', { message_thread_id: 17, is_topic_message: true }));
    telegram.update(written('@lowwater_bot why otp'));
    const thread = { message_thread_id: 5, reply_to_message: { from: { username: 'lowwater_bot' } } };
    telegram.update(written('pay', thread));
    const replies = await answered('sendMessage', 3);
    expect(events.map(({ said }) => said.kind === 'text' && said.text)).toEqual([
      '/status',
      'why otp',
      'pay',
    ]);
    expect(replies[0]).toMatchObject({
      chat_id: -100123,
      message_thread_id: 17,
      reply_parameters: { message_id: 9 },
    });
    // A thread of replies is no topic: Telegram says "message thread not found" where a bot names it.
    expect(replies[2]).not.toHaveProperty('message_thread_id');
    expect(events.map(({ topic }) => topic)).toEqual(['17', undefined, undefined]);
  });

  test('hears what is written below a picture', async () => {
    const { telegram, events } = await listen();
    telegram.update(written('', { text: undefined, photo: [], caption: '/ordered otp 1400' }));
    await eventually('the event', () => events.length === 1);
    expect(events[0]?.said).toEqual({ kind: 'text', text: '/ordered otp 1400' });
  });

  test('mentions nobody who is named in an answer', async () => {
    const { telegram, answerWith, answered } = await listen();
    answerWith({ text: '@ada has it', isPublic: true });
    telegram.update(pressed('0.1.a'));
    telegram.update(written('/status'));
    expect(await answered('editMessageText')).toMatchObject([{ text: 'CRITICAL\n\n✓ @\u2060ada has it' }]);
    expect(await answered('sendMessage')).toMatchObject([{ text: '@\u2060ada has it' }]);
  });

  test('takes what is written while it listens for new, whatever the clock of this machine says, and by its time what waited', async () => {
    const { telegram, settings } = await start({ listen: true });
    telegram.update(written('/status'));
    const events: Heard[] = [];
    const listener = telegramChat.listen(settings, { clock, texts }, async (event) => {
      events.push(event);
      return { text: 'done', isPublic: true };
    });
    onTestFinished(() => listener.close());
    const before = Date.now();
    await eventually('all heard', () => telegram.of('getUpdates').some(({ timeout }) => Number(timeout) > 0));
    telegram.update(written('/pay'));
    await eventually('both commands', () => events.length === 2);
    expect(events[0]?.at).toBe(1_795_200_000_000);
    expect(events[1]?.at).toBeGreaterThanOrEqual(before);
  });

  test('confirms an update once it was answered: after a kill it comes again under the same id', async () => {
    const { telegram, events } = await listen();
    telegram.update(pressed('0.1.a'));
    await eventually('the confirmation', () => telegram.unconfirmed === 0);
    await eventually('the event', () => events.length === 1);
    expect(events.map(({ id }) => id)).toEqual(['101']);
  });

  test('that ends answers the press that it does at that moment, and confirms it: the next listener does not hear it', async () => {
    const { telegram, settings, listener, events, holdUntil } = await listen();
    const held = Promise.withResolvers<void>();
    holdUntil(held.promise);
    telegram.update(pressed('0.1.a'));
    await eventually('the press', () => events.length === 1);
    telegram.update(written('/status'));
    const closed = listener.close();
    const others: Heard[] = [];
    const next = telegramChat.listen(settings, { clock, texts }, async (event) => {
      others.push(event);
      return { text: 'status', isPublic: true };
    });
    onTestFinished(() => next.close());
    held.resolve();
    await closed;
    expect(telegram.of('answerCallbackQuery')).toMatchObject([{ text: 'Ada has it' }]);
    expect(telegram.of('editMessageText')).toHaveLength(1);
    await eventually('what was not heard', () => others.length === 1);
    expect(others).toMatchObject([{ said: { kind: 'text', text: '/status' } }]);
    expect(next.problem()).toBeNull();
  });

  test('does not say once more what a message says already', async () => {
    const { telegram, answered } = await listen();
    telegram.refuseOnce(
      'editMessageText',
      'Bad Request: message is not modified: specified new message content',
    );
    telegram.update(pressed('0.1.a'));
    telegram.update(written('/status'));
    expect(await answered('sendMessage')).toMatchObject([{ reply_parameters: { message_id: 9 } }]);
  });

  test('knows who may act, and where', async () => {
    const { telegram, settings, events, answered } = await listen({ actors: ['7'] });
    telegram.update(pressed('0.1.a'));
    telegram.update(pressed('0.1.b', { from: { id: 8, first_name: 'Eve' } }));
    telegram.update(written('/status', { chat: { id: 7, type: 'private' } }));
    await answered('sendMessage');
    const standings = await standingsOf(settings, events);
    expect(standings).toEqual(['may act', 'stranger', 'elsewhere']);
  });

  test.each(['@alerts', '@Alerts'])('knows a chat by its public name, too: %s', async (chatId) => {
    const { telegram, settings, events } = await listen({ chatId });
    telegram.update(pressed('0.1.a', { message: { chat: { id: -7, type: 'channel', username: 'aLerts' } } }));
    telegram.update(pressed('0.1.b', { message: { chat: { id: -8, type: 'channel', username: 'others' } } }));
    await eventually('both', () => events.length === 2);
    const standings = await standingsOf(settings, events);
    expect(standings).toEqual(['may act', 'elsewhere']);
  });

  test('hears a group that became a supergroup while nobody listened', async () => {
    const { telegram, settings } = await start({ listen: true });
    telegram.moveTo(-100999);
    const events: Heard[] = [];
    const listener = telegramChat.listen(settings, { clock, texts }, async (event) => {
      events.push(event);
      return { text: 'taken', isPublic: true };
    });
    onTestFinished(() => listener.close());
    telegram.update(pressed('0.1.a', { message: { chat: { id: -100999, type: 'supergroup' } } }));
    await eventually('the press', () => events.length === 1);
    expect(await standingsOf(settings, events)).toEqual(['may act']);
  });

  test('hears each of its channels of which the group became a supergroup, and asks once for each other group', async () => {
    const { telegram, settings } = await start({ listen: true });
    const second = buildChannel(
      'second',
      channelSchema.parse({
        ...{ type: 'telegram', botToken: telegramToken, baseUrl: telegram.url },
        ...{ chatId: '-200', listen: true },
      }),
    ) as PostSettings;
    const event = (chat: string): Heard => ({
      ...{ id: '1', chat, person: { id: '7', name: 'Ada' } },
      said: { kind: 'text', text: '/status' },
    });
    expect(await standingsOf(second, [event('-300')])).toEqual(['elsewhere']);
    telegram.moveTo(-100999);
    expect(await standingsOf(second, [event('-100999')])).toEqual(['may act']);
    await standingsOf(second, [event('-300')]);
    expect(await standingsOf(settings, [event('42')])).toEqual(['elsewhere']);
    expect(telegram.of('getChat')).toEqual([{ chat_id: '-200' }, { chat_id: '-200' }]);
  });

  test('never overwrites a message that Telegram does not show any more: it replies', async () => {
    const { telegram, answered } = await listen();
    telegram.update(pressed('0.1.a', { message: { message_id: 5, date: 0, chat: telegramGroup } }));
    expect(await answered('sendMessage')).toMatchObject([{ text: 'Ada has it' }]);
    expect(telegram.of('editMessageText')).toEqual([]);
  });

  test('says who has it at the end of a message that is as long as Telegram takes, too', async () => {
    const { telegram, answered } = await listen();
    const message = { message_id: 5, chat: telegramGroup, text: 'x'.repeat(4096) };
    telegram.update(pressed('0.1.a', { message }));
    const [edit] = await answered('editMessageText');
    expect(String(edit?.text)).toHaveLength(4096);
    expect(edit?.text).toMatch(/x…\n\n✓ Ada has it$/);
  });

  test('ends a message that leaves no room for who has it with a whole line: no address is cut', async () => {
    const { telegram, answered } = await listen();
    const text = `CRITICAL\n${'x'.repeat(4000)}\nAcknowledge: https://lowwater.example.com/a/${'y'.repeat(40)}`;
    telegram.update(pressed('0.1.a', { message: { message_id: 5, chat: telegramGroup, text } }));
    const [edit] = await answered('editMessageText');
    expect(edit?.text).toMatch(/x\n…\n\n✓ Ada has it$/);
  });

  test('keeps what one person did where another pressed the same message at the same time', async () => {
    const { telegram, answerWith, answered } = await listen();
    telegram.update(pressed('0.1.a'));
    await answered('editMessageText');
    answerWith({ text: 'Ben: quiet', isPublic: true });
    telegram.update(
      pressed('6.1.other', { message: { ...Object(pressed('0.1.a').callback_query).message } }),
    );
    const [, edit] = await answered('editMessageText', 2);
    expect(edit).toMatchObject({
      text: 'CRITICAL\n\n✓ Ada has it\n\n✓ Ben: quiet',
      reply_markup: { inline_keyboard: [] },
    });
  });

  test('says in a reply who has it where the message cannot be edited', async () => {
    const { telegram, answered } = await listen();
    telegram.refuseOnce('editMessageText', "Bad Request: message can't be edited");
    telegram.update(pressed('0.1.a'));
    expect(await answered('sendMessage')).toMatchObject([
      { text: 'Ada has it', reply_parameters: { message_id: 5 } },
    ]);
  });

  test('says once more what Telegram had no time for, after as long as it asks for', async () => {
    const { telegram, answered } = await listen();
    telegram.refuseOnce('sendMessage', 'Too Many Requests', 429, { parameters: { retry_after: 1 } });
    telegram.update(written('/status'));
    expect(await answered('sendMessage', 2)).toMatchObject([{}, { text: 'Ada has it' }]);
  });

  test('says that nothing is heard while Telegram asks to wait for the next question, which comes no sooner', async () => {
    const { telegram, listener } = await listen();
    const description = 'Too Many Requests: retry after 600';
    telegram.refuse({ status: 429, body: { ok: false, description, parameters: { retry_after: 600 } } }, 1);
    const isRefused = () => listener.problem()?.reason.startsWith('Too Many Requests') === true;
    await eventually('the reason', isRefused);
    const asked = telegram.of('getUpdates').length;
    await eventually('another connection', () => telegram.of('getMe').length > 1);
    expect(telegram.of('getUpdates')).toHaveLength(asked);
    expect(isRefused()).toBe(true);
  });

  test('passes over an update that is larger than any command, and hears those before and behind it', async () => {
    const { telegram, events, listener } = await listen();
    telegram.update(pressed('0.1.before'));
    telegram.update(written(`/status ${'x'.repeat(70_000)}`));
    for (const text of ['a', 'b', 'c', 'd', 'e']) telegram.update(written(`/why ${text.repeat(20_000)}`));
    telegram.update(pressed('0.1.after'));
    await eventually('the last', () => telegram.unconfirmed === 0);
    expect(events.map(({ id }) => id)).toEqual(['101', '103', '104', '105', '106', '107', '108']);
    expect(listener.problem()).toBeNull();
  });

  test('asks a server that answers without waiting once a second at most', async () => {
    const { telegram, settings } = await start({ listen: true });
    let pauses = 0;
    const counting = {
      ...clock,
      setTimer(ms: number, fire: () => void) {
        pauses += ms === 1000 ? 1 : 0;
        return clock.setTimer(ms, fire);
      },
    };
    telegram.refuse({ status: 200, body: { ok: true, result: [{ strange: true }] } });
    const listener = telegramChat.listen(settings, { clock: counting, texts }, async () => ({
      text: '',
      isPublic: false,
    }));
    onTestFinished(() => listener.close());
    await eventually('some questions', () => telegram.of('getUpdates').length > 5);
    expect(pauses).toBeGreaterThanOrEqual(telegram.of('getUpdates').length - 3);
  });

  test('says that another program asks for as long as it does, though a few questions pass in between', async () => {
    const { telegram, listener, answered } = await listen();
    await answered('getUpdates', 2);
    const conflict = { status: 409, body: { ok: false, description: 'Conflict: terminated' } };
    const longPolls = () => telegram.of('getUpdates').filter(({ timeout }) => timeout === 50).length;
    const since = new Set<number | undefined>();
    for (let round = 0; round < 3; round++) {
      const before = longPolls();
      telegram.refuse(conflict, 1);
      await eventually('another long poll', () => longPolls() > before);
      since.add(listener.problem()?.since);
    }
    expect([...since]).toEqual([expect.any(Number)]);
    telegram.update(written('/status'));
    await eventually('a good long poll', () => listener.problem() === null);
  });

  test.each([
    [
      409,
      'Conflict: terminated by other getUpdates request',
      'another program asks for the updates of this bot',
    ],
    [401, 'Unauthorized', 'check "botToken"'],
    [200, `strange ${telegramToken}`, 'strange'],
    [200, null, 'not what Telegram answers'],
  ])('tells %i (%s) as what it is, and goes on when it is over', async (status, description, words) => {
    const { telegram, listener, events } = await listen();
    const page = '<!DOCTYPE html><html>Log in</html>';
    telegram.refuse({ status, body: description === null ? page : { ok: false, description } });
    await eventually('a problem', () => listener.problem() !== null);
    expect(listener.problem()?.reason).toContain(words);
    expect(listener.problem()?.reason).not.toContain(telegramToken);
    telegram.refuse(null);
    telegram.update(pressed('0.1.a'));
    await eventually('the next event', () => events.length === 1);
    telegram.update(written('/status'));
    await eventually('a connection', () => listener.problem() === null);
  });

  test('survives nonsense', async () => {
    const { telegram, events } = await listen();
    telegram.update({ message: null });
    telegram.update({ callback_query: { id: 5 } });
    telegram.update({ edited_message: {} });
    telegram.update(pressed('0.1.a'));
    await eventually('the last', () =>
      events.some(({ said }) => said.kind === 'button' && said.data === '0.1.a'),
    );
  });
});

describe('messages', () => {
  const message = buildMessage([buildItem({ acknowledgeUrl: null })]);
  const never = new AbortController().signal;

  test('about several alerts have a button for each, which names its rule beside a long name, and no sign that turns it round', async () => {
    const { telegram, settings } = await start({ listen: true });
    const channel = createChannel(settings, { clock, texts });
    onTestFinished(() => channel.close());
    const accountName = `OTP\u202e ${'n'.repeat(80)}`;
    const items = ['sms-low', 'voip-low'].map((rule) => buildItem({ accountName, rule }));
    await channel.send(buildMessage(items), never);
    const markup = Object(telegram.of('sendMessage')[0]?.reply_markup);
    const name = `OTP ${'n'.repeat(25)}…`;
    expect(markup.inline_keyboard.flat()).toMatchObject([
      { text: `Acknowledge: ${name} sms-low` },
      { text: `Acknowledge: ${name} voip-low` },
    ]);
  });

  test('have buttons where their chat is heard, and none elsewhere; topics of forums are kept', async () => {
    for (const isHeard of [true, false]) {
      const { telegram, settings } = await start({ messageThreadId: '17', ...(isHeard && { listen: true }) });
      const channel = createChannel(settings, { clock, texts });
      expect(await channel.send(message, never)).toMatchObject({ kind: 'delivered' });
      const [sent] = telegram.of('sendMessage');
      expect(sent).toMatchObject({ chat_id: '-100123', message_thread_id: '17' });
      expect(JSON.stringify(sent?.reply_markup ?? '')).toEqual(
        isHeard ? expect.stringContaining('"text":"Acknowledge"') : '""',
      );
      expect(channel.chat !== undefined).toBe(isHeard);
      expect(await channel.preview(message)).not.toContain(telegramToken);
      expect(telegram.wrong).toEqual([]);
      await channel.close();
    }
  });

  test.each(['message thread not found', 'TOPIC_CLOSED', 'TOPIC_ID_INVALID'])(
    'go on in the general topic where theirs is gone (%s), however often they were tried before, and are not sent for ever',
    async (gone) => {
      const { telegram, settings } = await start({ messageThreadId: '17' });
      const channel = createChannel(settings, { clock, texts });
      const refuse = () => telegram.refuseOnce('sendMessage', `Bad Request: ${gone}`);
      refuse();
      const refused = { kind: 'retry', certainty: 'refused', afterMs: 1000 };
      const first = await channel.send(message, never);
      expect(first).toMatchObject(refused);
      // Tries of before, when Telegram was not reached, say nothing of the general topic.
      expect(first).not.toHaveProperty('tries');
      refuse();
      expect(await channel.send(message, never)).toMatchObject({ ...refused, tries: 3 });
      expect(await channel.send(message, never)).toMatchObject({ kind: 'delivered' });
      const threads = telegram.of('sendMessage').map(({ message_thread_id }) => message_thread_id);
      expect(threads).toEqual(['17', undefined, undefined]);
      await channel.close();
    },
  );

  test('go on in the supergroup that a group became', async () => {
    const { telegram, settings } = await start();
    telegram.moveTo(-100999);
    const channel = createChannel(settings, { clock, texts });
    expect(await channel.send(message, never)).toMatchObject({ kind: 'retry', certainty: 'refused' });
    expect(await channel.send(message, never)).toMatchObject({ kind: 'delivered' });
    expect(telegram.of('sendMessage').map(({ chat_id }) => chat_id)).toEqual(['-100123', '-100999']);
    await channel.close();
  });
});
