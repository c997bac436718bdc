import { keyOf } from '../../domain/json.ts';
import { cutLines } from '../../domain/plain-text.ts';
import { textBehind } from '../../domain/secret.ts';
import { minuteMs, secondMs } from '../../domain/time.ts';
import { pause } from '../../net/deadline.ts';
import { isSuccess } from '../../net/http-answer.ts';
import { openHttpConnections } from '../../net/http-post.ts';
import type { ChannelChat, ChannelListener, Heard } from '../../ports/channel.ts';
import { ChatCalls, patient } from '../chats/call-chat.ts';
import { keepListening, unheard } from '../chats/keep-listening.ts';
import type { SenderDependencies } from '../kind.ts';
import { breakMentions } from '../markdown.ts';
import type { PostSettings } from '../receiver.ts';
import { answerMs, postToBot, waitAskedBy } from './telegram-bot.ts';

/** The seconds to wait of a long poll: it answers at once when there is something (core.telegram.org/bots/api, getUpdates). */
const waitSeconds = 50;
/** The most characters of the text that is shown over the chat (answerCallbackQuery). */
const maxToast = 200;
const maxText = 4096;
/** The most updates in one answer, so few that it stays below the size that is read. */
const maxUpdates = 4;
/** The number of messages whose last edit is known. */
const maxEdits = 100;

/** The answers under way, by bot: a listener that begins meanwhile would hear the same updates, and waits for them. */
const underWay = new Map<string, Promise<void>>();

interface Called {
  readonly result: unknown;
  readonly problem: string | null;
  /** The beginning of an answer that is longer than what is read of one. */
  readonly cut: string | null;
}

/** Hears a bot by long polls. */
export function openTelegramListener(
  settings: PostSettings,
  { clock, texts }: SenderDependencies,
  answer: Parameters<ChannelChat['listen']>[0],
): ChannelListener {
  const dispatcher = openHttpConnections(settings.address, { clock });
  const calls = new ChatCalls(clock);
  let offset: number | undefined;
  let limit = maxUpdates;
  let wait = 0;
  let isContested = false;
  let username = '';
  /** When all updates had been heard last: what is heard next was pressed since then, or while nobody listened. */
  let caughtUpAt: number | null = null;
  /** The last edit of each message: a press brings its message as it was before others pressed at the same time. */
  const edits = new Map<string, { readonly text: string; readonly rows: readonly unknown[] }>();
  const bot = `${settings.address.reveal()} ${textBehind(settings.keys.botToken)}`;
  let work = Promise.resolve();

  const listen = async (signal: AbortSignal, connected: () => void, answering: AbortSignal) => {
    await underWay.get(bot);
    const me = await call('getMe', {}, signal);
    if (me.problem !== null) return me.problem;
    username = String(keyOf(me.result, 'username') ?? '').toLowerCase();
    wait = 0;
    for (;;) {
      const [before, startedAt] = [offset, clock.monotonic()];
      const problem = await poll(signal, connected, answering);
      if (problem !== null || signal.aborted) return problem ?? 'closed';
      // A server that answers at once without news must not be asked without end.
      if (offset === before && clock.monotonic() - startedAt < secondMs) await pause(clock, secondMs, signal);
    }
  };
  return keepListening({ clock, dispatcher }, listen, () => work);

  async function poll(
    signal: AbortSignal,
    connected: () => void,
    answering: AbortSignal,
  ): Promise<string | null> {
    const asked = { offset, timeout: wait, limit, allowed_updates: ['message', 'callback_query'] };
    const got = await call('getUpdates', asked, signal, (wait + 10) * 1000);
    if (askForFewer(got.cut)) return null;
    if (got.problem !== null) return got.problem;
    limit = maxUpdates;
    // Two programs that listen to one bot end each other's long polls.
    if (wait > 0) isContested = false;
    if (!isContested) connected();
    const updates = [got.result ?? []].flat();
    work = hearAll(updates, signal, answering).finally(() => underWay.delete(bot));
    underWay.set(bot, work);
    await work;
    // Behind a full answer more updates may wait.
    wait = updates.length < asked.limit ? waitSeconds : 0;
    if (wait > 0) caughtUpAt = clock.now();
    return null;
  }

  /** After an answer too long to read, asks for one update at a time. One too long alone is no command, and skipped. False without any. */
  function askForFewer(cut: string | null): boolean {
    if (cut === null) return false;
    const [, id] = /"update_id":\s*(\d+)/.exec(cut) ?? [];
    if (limit === 1) confirm(id);
    limit = 1;
    return id !== undefined;
  }

  /** Even at the end, the update under way is answered and confirmed: nobody hears it again. */
  async function hearAll(
    updates: readonly unknown[],
    signal: AbortSignal,
    answering: AbortSignal,
  ): Promise<void> {
    const before = offset;
    for (const update of updates) if (!signal.aborted) await hear(update, answering);
    if (signal.aborted && offset !== before)
      await call('getUpdates', { offset, timeout: 0, limit: 1 }, answering);
  }

  async function hear(update: unknown, signal: AbortSignal): Promise<void> {
    const id = String(keyOf(update, 'update_id'));
    const query = keyOf(update, 'callback_query');
    if (query === undefined) await write(id, keyOf(update, 'message'), signal);
    else await press(id, query, signal);
    // Only what was answered is confirmed: after a kill it comes again, and its order is recognised by its id.
    confirm(id);
  }

  function confirm(id: string | undefined): void {
    if (Number.isSafeInteger(Number(id))) offset = Math.max(offset ?? 0, Number(id) + 1);
  }

  function eventOf(id: string, from: unknown, message: unknown): Omit<Heard, 'said'> {
    const chat = keyOf(message, 'chat');
    const person = String(keyOf(from, 'id'));
    const words = [keyOf(from, 'first_name'), keyOf(from, 'last_name')].filter(Boolean).join(' ');
    const [alias, topic] = [keyOf(chat, 'username'), topicOf(message)];
    return {
      ...(topic !== undefined && { topic: String(topic) }),
      // In a group a bot gets only what begins with this.
      prefix: '/',
      ...{ id, chat: String(keyOf(chat, 'id')), ...(typeof alias === 'string' && { alias: `@${alias}` }) },
      // A bot that heard everything a moment ago hears nothing old, even if this machine's clock is wrong.
      at: Math.max(Number(keyOf(message, 'date')) * 1000, caughtUpAt ?? 0),
      person: { id: person, name: words || person },
    };
  }

  async function press(id: string, query: unknown, signal: AbortSignal): Promise<void> {
    const message = keyOf(query, 'message');
    const data = String(keyOf(query, 'data') ?? '');
    const said = { kind: 'button', data } as const;
    const at = caughtUpAt === null ? {} : { at: caughtUpAt };
    const { text, isPublic } = await answer({ ...eventOf(id, keyOf(query, 'from'), message), ...at, said });
    const isShort = text.length <= maxToast;
    const toast = isShort ? { text, show_alert: !isPublic } : {};
    const body = { callback_query_id: keyOf(query, 'id'), ...toast };
    const shown = await call('answerCallbackQuery', body, signal);
    const isShown = isPublic && (await showTaken(message, data, text, signal));
    if (!isShown && (isPublic || !isShort || shown.problem !== null)) await reply(message, text, signal);
  }

  /** Edits the message to say who has the alert, without the button to take it. False if it cannot be edited. */
  async function showTaken(
    message: unknown,
    data: string,
    text: string,
    signal: AbortSignal,
  ): Promise<boolean> {
    const place = { ...placeOf(message), message_id: keyOf(message, 'message_id') };
    const last = edits.get(JSON.stringify(place));
    const before = last?.text ?? keyOf(message, 'text');
    if (typeof before !== 'string') return false;
    const rows = [last?.rows ?? keyOf(keyOf(message, 'reply_markup'), 'inline_keyboard') ?? []].flat();
    const left = rows.map((row) => [row].flat().filter((button) => keyOf(button, 'callback_data') !== data));
    const note = `\n\n✓ ${breakMentions(text)}`;
    const edit = {
      text: `${cutLines(before, maxText - note.length)}${note}`,
      rows: left.filter((row) => row.length > 0),
    };
    const shown = {
      reply_markup: { inline_keyboard: edit.rows },
      link_preview_options: { is_disabled: true },
    };
    const edited = await call('editMessageText', { ...place, text: edit.text, ...shown }, signal);
    if (edits.size >= maxEdits) edits.clear();
    // A press that comes again after a kill may have been shown already.
    const isShown = edited.problem === null || /not modified/.test(edited.problem);
    if (isShown) edits.set(JSON.stringify(place), edit);
    return isShown;
  }

  async function write(id: string, message: unknown, signal: AbortSignal): Promise<void> {
    const text = keyOf(message, 'text') ?? keyOf(message, 'caption');
    if (typeof text !== 'string' || !isForUs(text, message)) return;
    const said = { kind: 'text', text: text.replace(/^@\w+\s*/, '') } as const;
    const answered = await answer({ ...eventOf(id, keyOf(message, 'from'), message), said });
    await reply(message, answered.text, signal);
  }

  /** Whether a text is for this bot: a command that is not another bot's, or written to it alone, to it by name, or in reply to it. */
  function isForUs(text: string, message: unknown): boolean {
    const [, named] = /^(?:\/\w+)?@(\w+)/.exec(text) ?? [];
    if (named !== undefined) return named.toLowerCase() === username;
    const replied = keyOf(keyOf(keyOf(message, 'reply_to_message'), 'from'), 'username');
    return (
      text.startsWith('/') ||
      keyOf(keyOf(message, 'chat'), 'type') === 'private' ||
      String(replied).toLowerCase() === username
    );
  }

  async function reply(message: unknown, said: string, signal: AbortSignal): Promise<void> {
    const thread = topicOf(message);
    const to = { message_id: keyOf(message, 'message_id'), allow_sending_without_reply: true };
    const where = { ...placeOf(message), ...(thread === undefined ? {} : { message_thread_id: thread }) };
    const text = cutLines(breakMentions(said), maxText);
    await call('sendMessage', { ...where, text, reply_parameters: to }, signal);
  }

  /** The result of a call, or why it failed, as a clause. */
  async function call(
    method: string,
    body: object,
    signal: AbortSignal,
    afterMs = answerMs,
  ): Promise<Called> {
    try {
      const limits = { clock, afterMs, outer: signal };
      const post = (ending: AbortSignal) =>
        postToBot(settings, { method, body }, { signal: ending, dispatcher, clock });
      const patience = method.startsWith('get') ? patient : { maxWaitMs: minuteMs, tries: 2 };
      const { json, ...said } = await calls.call(limits, post, { method, waitAskedBy, ...patience });
      const cut = json === undefined && isSuccess(said) ? said.body : null;
      isContested ||= said.status === 409;
      if (keyOf(json, 'ok') === true) return { result: keyOf(json, 'result'), problem: null, cut };
      const strange = cut === null ? `HTTP ${said.status}` : unheard.strange({ receiver: 'Telegram' });
      const description = texts.clean(String(keyOf(json, 'description') ?? strange), 200);
      const problem = adviceByStatus[said.status]?.({ said: description }) ?? description;
      return { result: null, problem, cut };
    } catch {
      return { result: null, problem: unheard.lost({ receiver: 'Telegram' }), cut: null };
    }
  }
}

const adviceByStatus: Readonly<Record<number, typeof unheard.botToken>> = {
  401: unheard.botToken,
  409: unheard.contested,
};

/** The topic of a message. A reply outside a topic begins a thread, in which a bot may not write. */
function topicOf(message: unknown): unknown {
  return keyOf(message, 'is_topic_message') === true ? keyOf(message, 'message_thread_id') : undefined;
}

function placeOf(message: unknown): { readonly chat_id: unknown } {
  return { chat_id: keyOf(keyOf(message, 'chat'), 'id') };
}
