import { describe, expect, onTestFinished, test } from 'vitest';
import { openTelegramListener } from '../../../src/channels/presets/telegram-chat.ts';
import type { PostSettings } from '../../../src/channels/receiver.ts';
import { buildChannel, channelSchema, createChannel } from '../../../src/channels/registry.ts';
import { createForeignTexts } from '../../../src/domain/foreign-text.ts';
import type { ChatAnswer, ChatEvent } from '../../../src/ports/channel.ts';
import { systemClock } from '../../../src/system/clock.ts';
import { eventually } from '../../support/eventually.ts';
import { buildItem, buildMessage } from '../../support/messages.ts';
import { pressed, startTelegramApi, telegramToken, written } from '../../support/telegram-api.ts';

const texts = createForeignTexts([telegramToken]);
/** Real time, but pauses between tries are short. */
const clock = {
  ...systemClock,
  setTimer: (ms: number, fire: () => void) => systemClock.setTimer(ms > 5000 ? ms : Math.min(ms, 20), fire),
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
  const events: ChatEvent[] = [];
  let next: ChatAnswer = { text: 'Ada has it', isPublic: true };
  const answerWith = (answer: ChatAnswer): void => {
    next = answer;
  };
  const listener = openTelegramListener('ops', settings, { clock, texts }, async (event) => {
    events.push(event);
    return next;
  });
  onTestFinished(() => listener.close());
  await eventually('a connection', () => listener.problem() === null);
  const answered = (method: string, count = 1) =>
    eventually(`${count} ${method}`, () => telegram.of(method).length >= count && telegram.of(method));
  return { telegram, listener, events, answerWith, answered };
}

describe('a bot that listens', () => {
  test('answers a button, and its message says who has it and offers it no more', async () => {
    const { telegram, events, answered } = await listen();
    telegram.update(pressed('0.1.incident-1'));
    const [edit] = await answered('editMessageText');
    expect(events).toMatchObject([
      {
        ...{ channel: 'ops', id: '101', chat: '-100123', standing: 'may act' },
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
    telegram.update(written('/status', { message_thread_id: 17 }));
    telegram.update(written('@lowwater_bot why otp'));
    telegram.update(written('pay', { reply_to_message: { from: { username: 'lowwater_bot' } } }));
    const replies = await answered('sendMessage', 3);
    expect(events.map(({ said, at }) => [said.kind === 'text' && said.text, at])).toEqual([
      ['/status', 1_795_200_000_000],
      ['why otp', 1_795_200_000_000],
      ['pay', 1_795_200_000_000],
    ]);
    expect(replies[0]).toMatchObject({
      chat_id: -100123,
      message_thread_id: 17,
      reply_parameters: { message_id: 9 },
    });
  });

  test('confirms an update once it was answered: after a kill it comes again under the same id', async () => {
    const { telegram, events } = await listen();
    telegram.update(pressed('0.1.a'));
    await eventually('the confirmation', () => telegram.unconfirmed === 0);
    await eventually('the event', () => events.length === 1);
    expect(events.map(({ id }) => id)).toEqual(['101']);
  });

  test('knows who may act, and where', async () => {
    const { telegram, events, answered } = await listen({ actors: ['7'] });
    telegram.update(pressed('0.1.a'));
    telegram.update(pressed('0.1.b', { from: { id: 8, first_name: 'Eve' } }));
    telegram.update(written('/status', { chat: { id: 7, type: 'private' } }));
    await answered('sendMessage');
    expect(events.map(({ standing }) => standing)).toEqual(['may act', 'stranger', 'elsewhere']);
  });

  test.each([
    [
      409,
      'Conflict: terminated by other getUpdates request',
      'another program asks for the updates of this bot',
    ],
    [401, 'Unauthorized', 'check "botToken"'],
    [200, `strange ${telegramToken}`, 'strange'],
  ])('tells %i as what it is, and goes on when it is over', async (status, description, words) => {
    const { telegram, listener, events } = await listen();
    telegram.refuse({ status, body: { ok: false, description } });
    await eventually('a problem', () => listener.problem() !== null);
    expect(listener.problem()?.reason).toContain(words);
    expect(listener.problem()?.reason).not.toContain(telegramToken);
    telegram.refuse(null);
    telegram.update(pressed('0.1.a'));
    await eventually('the next event', () => events.length === 1);
    expect(listener.problem()).toBeNull();
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
      expect(channel.listen !== undefined).toBe(isHeard);
      expect(await channel.preview(message)).not.toContain(telegramToken);
      expect(telegram.wrong).toEqual([]);
      await channel.close();
    }
  });

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
