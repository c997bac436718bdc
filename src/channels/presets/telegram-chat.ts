import { minuteMs, secondMs } from '../../domain/duration.ts';
import { getOrMake } from '../../domain/get-or-make.ts';
import { keyOf, parseJson } from '../../domain/json.ts';
import type { Message } from '../../domain/message.ts';
import { cutLines, cutText } from '../../domain/plain-text.ts';
import { readerOf } from '../../messages/item-wording.ts';
import { pause } from '../../net/deadline.ts';
import type { HttpAnswer } from '../../net/http-answer.ts';
import { isSuccess } from '../../net/http-answer.ts';
import { type HttpPost, openHttpConnections, postOnce } from '../../net/http-post.ts';
import type { ChannelChat, ChannelListener, Heard } from '../../ports/channel.ts';
import type { Clock } from '../../ports/clock.ts';
import { labelled } from '../../wording/lists.ts';
import { buttonsOf, type ChatButton } from '../chats/buttons.ts';
import { callChat } from '../chats/call-chat.ts';
import { keepListening, standingOf, unheard } from '../chats/keep-listening.ts';
import type { SenderDependencies } from '../kind.ts';
import { readSeconds } from '../post-kind.ts';
import type { PostedPart } from '../post-sender.ts';
import type { PostChat, PostCode, PostSettings } from '../receiver.ts';
import type { Preset } from './preset.ts';
import { codeOf } from './preset-parts.ts';

/** core.telegram.org/bots/api, getUpdates: asked with this many seconds to wait, it answers at once when there is something. */
const waitSeconds = 50;
const answerMs = 15_000;
/** Characters of the text that is shown over the chat (answerCallbackQuery). */
const maxToast = 200;
const maxText = 4096;
/** Updates at once, so few that an answer stays below the size that is read. */
const maxUpdates = 4;
const maxButtonRows = 8;
/** Messages of which the last edit is known. */
const maxEdits = 100;

/** Groups that have become supergroups, by their settings: messages go on under the new id (`migrate_to_chat_id`). */
const migrated = new WeakMap<PostSettings, string>();

const chatOf = (settings: PostSettings): string =>
  migrated.get(settings) ?? settings.keys.chatId?.reveal() ?? '';

interface PartWithButtons extends PostedPart {
  readonly keyboard?: object | undefined;
}

/** The preset's messages, with buttons below them where their chat is heard. */
export function telegramCode(preset: Preset): PostCode<PartWithButtons> {
  const code = codeOf(preset);
  return {
    render: (message, settings) =>
      code
        .render(message, settings)
        .map((part) => ({ ...part, ...(listens(settings) && { keyboard: keyboardOf(message) }) })),
    prepare(part, settings, attempt) {
      const prepared = code.prepare?.(part as never, settings, attempt);
      if (prepared === undefined) throw new Error('a preset without a request');
      const body = { ...Object(parseJson(prepared.body)), chat_id: chatOf(settings) };
      return {
        ...prepared,
        body: JSON.stringify({ ...body, ...(part.keyboard && { reply_markup: part.keyboard }) }),
      };
    },
    heard: (answer, settings) => noteMove(parseJson(answer.body), settings),
  };
}

function noteMove(json: unknown, settings: PostSettings): void {
  const moved = keyOf(keyOf(json, 'parameters'), 'migrate_to_chat_id');
  if (typeof moved === 'number') migrated.set(settings, String(moved));
}

export function listens(settings: PostSettings): boolean {
  return settings.keys.listen?.reveal() === 'true';
}

/** One alert has all buttons, of several each has one. */
function keyboardOf(message: Message): object | undefined {
  if (message.kind !== 'incidents') return undefined;
  const reader = readerOf(message);
  const [item, ...others] = message.items;
  const draw = ({ label, data }: ChatButton) => ({ text: label, callback_data: data });
  const all = item === undefined ? [] : buttonsOf(item, reader).filter(({ verb }) => verb !== 'quiet1h');
  const rows =
    others.length === 0
      ? [all.slice(0, 2), all.slice(2, 4), all.slice(4)].map((row) => row.map(draw))
      : message.items.slice(0, maxButtonRows).flatMap((each) => {
          const [button] = buttonsOf(each, reader);
          if (button?.verb !== 'acknowledge') return [];
          return [
            [
              {
                ...draw(button),
                text: cutText(labelled(button.label, `${each.accountName} ${each.rule}`), 60),
              },
            ],
          ];
        });
  const filled = rows.filter((row) => row.length > 0);
  return filled.length === 0 ? undefined : { inline_keyboard: filled };
}

export const telegramChat: PostChat = {
  async standing(settings, { chat, alias, person: { id } }, { clock }) {
    const actors = settings.keys.actors?.reveal() || null;
    if (![chat, alias].includes(chatOf(settings))) await lookUpMove(settings, chat, clock);
    const own = chatOf(settings);
    return standingOf(chat === own || alias === own, id, actors === null ? null : actors.split(', '));
  },
  listen: openTelegramListener,
};

/** Other chats in which something was heard since the channel's own was looked up, by settings. */
const lookedUpFor = new WeakMap<PostSettings, Set<string>>();

/** A group may have become a supergroup since something was sent there last: what is heard in another group may be heard in it. */
async function lookUpMove(settings: PostSettings, other: string, clock: Clock): Promise<void> {
  const known = getOrMake(lookedUpFor, settings, () => new Set<string>());
  // Groups have negative ids: whoever writes to the bot alone costs nothing.
  if (known.has(other) || !other.startsWith('-')) return;
  const dispatcher = openHttpConnections(settings.address, { clock });
  try {
    const asked = { method: 'getChat', body: { chat_id: chatOf(settings) } };
    const limits = { clock, afterMs: answerMs, outer: new AbortController().signal };
    const said = await callChat(limits, (signal) =>
      postToBot(settings, asked, { signal, dispatcher, clock }),
    );
    noteMove(said.json, settings);
    if (said.status !== 429 && said.status < 500) known.add(other);
  } catch {
    // The next press or text asks again.
  } finally {
    void dispatcher.destroy();
  }
}

interface BotAnswer extends HttpAnswer {
  readonly json: unknown;
}

async function postToBot(
  { keys, address }: PostSettings,
  { method, body }: { readonly method: string; readonly body: object },
  limits: Pick<HttpPost, 'signal' | 'dispatcher' | 'clock'>,
): Promise<BotAnswer> {
  const said = await postOnce({
    ...limits,
    url: `${address.reveal()}/bot${keys.botToken?.reveal() ?? ''}/${method}`,
    headers: { 'content-type': 'application/json', 'user-agent': 'lowwater' },
    body: JSON.stringify(body),
  });
  return { ...said, json: parseJson(said.body) };
}

function waitAskedBy({ json }: BotAnswer): number | null {
  const waitMs = readSeconds(keyOf(keyOf(json, 'parameters'), 'retry_after'));
  return waitMs === null ? null : Math.min(waitMs, minuteMs);
}

interface Called {
  readonly result: unknown;
  readonly problem: string | null;
  /** An answer that is more than what is read of one. */
  readonly cut: string | null;
}

/** Hears a bot by long polls. */
function openTelegramListener(
  settings: PostSettings,
  { clock, texts }: SenderDependencies,
  answer: Parameters<ChannelChat['listen']>[0],
): ChannelListener {
  const dispatcher = openHttpConnections(settings.address, { clock });
  let offset: number | undefined;
  let limit = maxUpdates;
  let isContested = false;
  let username = '';
  /** When updates were asked for last: what was pressed was pressed since, or while nobody listened. */
  let askedAt: number | null = null;
  /** The last edit of messages: a press brings its message as it was then, before what others pressed at the same time. */
  const edits = new Map<string, { readonly text: string; readonly rows: readonly unknown[] }>();

  return keepListening({ clock, dispatcher }, async (signal, connected) => {
    const me = await call('getMe', {}, signal);
    if (me.problem !== null) return me.problem;
    username = String(keyOf(me.result, 'username') ?? '').toLowerCase();
    for (let wait = 0; ; wait = waitSeconds) {
      const [before, startedAt] = [offset, clock.monotonic()];
      const problem = await poll(wait, signal, connected);
      if (problem !== null || signal.aborted) return problem ?? 'closed';
      // A server that answers at once with nothing new is not asked without end.
      if (offset === before && clock.monotonic() - startedAt < secondMs && wait > 0)
        await pause(clock, secondMs, signal);
    }
  });

  async function poll(wait: number, signal: AbortSignal, connected: () => void): Promise<string | null> {
    const asked = { offset, timeout: wait, limit, allowed_updates: ['message', 'callback_query'] };
    const got = await call('getUpdates', asked, signal, (wait + 10) * 1000);
    if (got.cut !== null) {
      askForFewer(got.cut);
      return null;
    }
    if (got.problem !== null) return got.problem;
    limit = maxUpdates;
    // Two programs that ask end each other's long polls.
    if (wait > 0) isContested = false;
    if (!isContested) connected();
    const updates = Array.isArray(got.result) ? got.result : [];
    for (const update of updates) if (!signal.aborted) await hear(update, signal);
    askedAt = clock.now();
    return null;
  }

  /** One alone that is more than what is read of an answer is no command: it is passed over. */
  function askForFewer(cut: string): void {
    if (limit === 1) confirm(/"update_id":\s*(\d+)/.exec(cut)?.[1]);
    limit = 1;
  }

  async function hear(update: unknown, signal: AbortSignal): Promise<void> {
    const id = String(keyOf(update, 'update_id'));
    const query = keyOf(update, 'callback_query');
    if (query === undefined) await write(id, keyOf(update, 'message'), signal);
    else await press(id, query, signal);
    // Only what was answered is confirmed: after a kill it comes again, and its order is known by its id.
    confirm(id);
  }

  function confirm(id: string | undefined): void {
    if (Number.isSafeInteger(Number(id))) offset = Math.max(offset ?? 0, Number(id) + 1);
  }

  function eventOf(id: string, from: unknown, message: unknown): Omit<Heard, 'said'> {
    const chat = keyOf(message, 'chat');
    const person = String(keyOf(from, 'id'));
    const words = [keyOf(from, 'first_name'), keyOf(from, 'last_name')].filter(Boolean).join(' ');
    const [alias, topic] = [keyOf(chat, 'username'), keyOf(message, 'message_thread_id')];
    return {
      ...(topic !== undefined && { topic: String(topic) }),
      // In a group a bot gets what begins so.
      prefix: '/',
      ...{ id, chat: String(keyOf(chat, 'id')), ...(typeof alias === 'string' && { alias: `@${alias}` }) },
      person: { id: person, name: words || person },
    };
  }

  async function press(id: string, query: unknown, signal: AbortSignal): Promise<void> {
    const message = keyOf(query, 'message');
    const data = String(keyOf(query, 'data') ?? '');
    const said = { kind: 'button', data } as const;
    const at = askedAt ?? dateOf(message);
    const { text, isPublic } = await answer({ ...eventOf(id, keyOf(query, 'from'), message), at, said });
    const isShort = text.length <= maxToast;
    const toast = isShort ? { text, show_alert: !isPublic } : {};
    const body = { callback_query_id: keyOf(query, 'id'), ...toast };
    const shown = await call('answerCallbackQuery', body, signal);
    const isShown = isPublic && (await showTaken(message, data, text, signal));
    if (!isShown && (isPublic || !isShort || shown.problem !== null)) await reply(message, text, signal);
  }

  /** The message itself says who has it, and no more offers to be taken. False where it cannot be edited. */
  async function showTaken(
    message: unknown,
    data: string,
    text: string,
    signal: AbortSignal,
  ): Promise<boolean> {
    const place = { ...placeOf(message), message_id: keyOf(message, 'message_id') };
    const held = edits.get(JSON.stringify(place));
    const before = held?.text ?? keyOf(message, 'text');
    if (typeof before !== 'string') return false;
    const rows = held?.rows ?? keyOf(keyOf(message, 'reply_markup'), 'inline_keyboard');
    const left = Array.isArray(rows)
      ? rows.map((row) => [row].flat().filter((button) => keyOf(button, 'callback_data') !== data))
      : [];
    const note = `\n\n✓ ${text}`;
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
    if (edited.problem === null) edits.set(JSON.stringify(place), edit);
    return edited.problem === null;
  }

  async function write(id: string, message: unknown, signal: AbortSignal): Promise<void> {
    const text = keyOf(message, 'text');
    if (typeof text !== 'string' || !isForUs(text, message)) return;
    const said = { kind: 'text', text: text.replace(/^@\w+\s*/, '') } as const;
    const event = eventOf(id, keyOf(message, 'from'), message);
    const answered = await answer({ ...event, at: dateOf(message), said });
    await reply(message, answered.text, signal);
  }

  /** A command, not another bot's; what is written to the bot alone, to it by name, or in reply to it. */
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

  async function reply(message: unknown, text: string, signal: AbortSignal): Promise<void> {
    const thread = keyOf(message, 'message_thread_id');
    const to = { message_id: keyOf(message, 'message_id'), allow_sending_without_reply: true };
    const where = { ...placeOf(message), ...(thread === undefined ? {} : { message_thread_id: thread }) };
    await call('sendMessage', { ...where, text: cutLines(text, maxText), reply_parameters: to }, signal);
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
      const { json, ...said } = await callChat(limits, post, waitAskedBy);
      const cut = json === undefined && isSuccess(said) ? said.body : null;
      isContested ||= said.status === 409;
      if (keyOf(json, 'ok') === true) return { result: keyOf(json, 'result'), problem: null, cut };
      const description = texts.clean(String(keyOf(json, 'description') ?? `HTTP ${said.status}`), 200);
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

function dateOf(message: unknown): number {
  return Number(keyOf(message, 'date')) * 1000;
}

function placeOf(message: unknown): { readonly chat_id: unknown } {
  return { chat_id: keyOf(keyOf(message, 'chat'), 'id') };
}
