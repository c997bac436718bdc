import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { WebSocket } from 'undici';
import { isLoopbackHost } from '../../domain/addresses.ts';
import { keyOf, parseJson } from '../../domain/json.ts';
import { cutLines, cutText } from '../../domain/plain-text.ts';
import { Secret } from '../../domain/secret.ts';
import { secondMs } from '../../domain/time.ts';
import type { HttpAnswer } from '../../net/http-answer.ts';
import { openHttpConnections } from '../../net/http-post.ts';
import type { ChannelChat, ChannelListener, ChatAnswer, Heard } from '../../ports/channel.ts';
import { classifyAnswer } from '../answers.ts';
import { ChatCalls, patient } from '../chats/call-chat.ts';
import { keepListening, unheard } from '../chats/keep-listening.ts';
import type { SenderDependencies } from '../kind.ts';
import { isThreadGone, slackBotAnswers } from './slack-answers.ts';
import { literalMrkdwn, unescapeSlack } from './slack-blocks.ts';
import { callSlack, type SlackBot, type SlackChat, type SlackFields } from './slack-bot.ts';

const receiver = 'Slack';
const callMs = 10_000;
/** Answers to people wait so long at most where Slack asks for it, and what others pressed with them. */
const maxWaitMs = 30 * secondMs;
/** Slack says hello at once, and pings at least every 30 s; a connection that says nothing for so long is dead. */
const silenceMs = 90 * secondMs;
/** Pings are answered by undici, which tells of them here alone. */
const pings = 'undici:websocket:ping';
/** More at once is no people: what is not acknowledged Slack sends again. */
const maxWaiting = 100;
/** Events that came twice have the same id: so many are known (a restart knows orders by the audit). */
const maxKnown = 1000;

interface Envelope {
  readonly type: unknown;
  /** When what it brings was written at the earliest. */
  readonly since: number;
  readonly payload: unknown;
}

/** The mention of the bot, by the name that its guide gives it: in a channel it hears nothing that begins otherwise. */
const mentionOfBot = '@lowwater ';

/** Kinds of messages that people write: plain, with a file, to the channel too, and in the third person (docs.slack.dev, message event). */
const writtenSubtypes = new Set<unknown>([undefined, 'file_share', 'thread_broadcast', 'me_message']);

/** A message: its channel, its name, and that of the first of its thread. */
type Spot = Readonly<Record<'place' | 'ts' | 'thread', string>>;

/**
 * Hears a channel by Socket Mode (docs.slack.dev, using Socket Mode): a WebSocket whose address Slack gives for an app-level token. Each
 * envelope is acknowledged at once; what it asks for is done one after the other, and answered by the Web API.
 */
export function openSlackListener(
  { botToken, appToken, apiUrl }: Pick<SlackBot, 'botToken' | 'apiUrl'> & Pick<SlackChat, 'appToken'>,
  { clock, texts }: SenderDependencies,
  answer: Parameters<ChannelChat['listen']>[0],
): ChannelListener {
  const dispatcher = openHttpConnections(new Secret(apiUrl), { clock });
  const calls = new ChatCalls(clock);
  const known = new Set<string>();
  const names = new Map<string, string>();
  let work = Promise.resolve();
  let waiting = 0;

  async function connect(
    signal: AbortSignal,
    connected: () => void,
    answering: AbortSignal,
  ): Promise<string> {
    const opened = await call('apps.connections.open', {}, signal, appToken);
    const url = URL.parse(String(keyOf(opened, 'url')));
    const isSafe = url?.protocol === 'wss:' || (url?.protocol === 'ws:' && isLoopbackHost(url.hostname));
    return isSafe ? hear(url.href, signal, connected, answering) : problemOf(opened);
  }

  // Slack never sends again what is acknowledged.
  return keepListening({ clock, dispatcher }, connect, () => work);

  function problemOf(said: unknown): string {
    const error = texts.clean(String(keyOf(said, 'error') ?? unheard.strange({ receiver })), 100);
    return /auth|token|scope|inactive/.test(error) ? unheard.appToken({ said: error }) : error;
  }

  /** Until the connection ends: why. */
  function hear(
    url: string,
    signal: AbortSignal,
    connected: () => void,
    answering: AbortSignal,
  ): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>();
    const socket = new WebSocket(url, { dispatcher });
    const end = (why: string): void => {
      cancel();
      unsubscribe(pings, pinged);
      signal.removeEventListener('abort', abort);
      resolve(why);
      socket.close();
    };
    const abort = (): void => end('closed');
    const silent = (): void => end(unheard.silent({ receiver }));
    let cancel = clock.setTimer(silenceMs, silent);
    let aliveAt = 0;
    const alive = (): void => {
      aliveAt = clock.now();
      cancel();
      cancel = clock.setTimer(silenceMs, silent);
    };
    const pinged = (ping: unknown): void => {
      if (keyOf(ping, 'websocket') === socket) alive();
    };
    subscribe(pings, pinged);
    signal.addEventListener('abort', abort, { once: true });
    socket.addEventListener('error', () => end(unheard.lost({ receiver })));
    socket.addEventListener('close', () => end(unheard.closed({ receiver })));
    socket.addEventListener('message', ({ data }) => {
      const envelope = parseJson(String(data));
      // An envelope that comes for the first time was written since the last sign of life, also where this machine's clock is wrong.
      const since = Number(keyOf(envelope, 'retry_attempt')) > 0 ? 0 : aliveAt;
      alive();
      const type = keyOf(envelope, 'type');
      if (type === 'hello') connected();
      const reason = texts.clean(String(keyOf(envelope, 'reason')), 100);
      if (type === 'disconnect') end(unheard.again({ receiver, reason }));
      const id = keyOf(envelope, 'envelope_id');
      if (typeof id !== 'string' || waiting >= maxWaiting) return;
      socket.send(JSON.stringify({ envelope_id: id }));
      waiting += 1;
      work = work
        .then(() => handle({ type, since, payload: keyOf(envelope, 'payload') }, answering))
        .finally(() => {
          waiting -= 1;
        });
    });
    return promise;
  }

  async function handle({ type, since, payload }: Envelope, signal: AbortSignal): Promise<void> {
    const kind = keyOf(payload, 'type');
    if (type === 'events_api') await readText(payload, since, signal);
    else if (kind === 'block_actions') await press(payload, signal);
    else if (kind === 'view_submission') await submit(payload, signal);
  }

  function isNew(id: string): boolean {
    if (known.has(id)) return false;
    known.add(id);
    for (const oldest of known.values().take(Math.max(0, known.size - maxKnown))) known.delete(oldest);
    return true;
  }

  function eventOf(id: string, user: unknown, chat: string): Omit<Heard, 'said'> {
    const person = String(keyOf(user, 'id'));
    const name = String(keyOf(user, 'name') ?? keyOf(user, 'username') ?? person);
    return { id, chat, person: { id: person, name } };
  }

  async function press(payload: unknown, signal: AbortSignal): Promise<void> {
    const action = keyOf(keyOf(payload, 'actions'), 0);
    const data = keyOf(keyOf(action, 'selected_option'), 'value') ?? keyOf(action, 'value');
    // A link is a button without a value.
    if (typeof data !== 'string') return;
    const [user, message] = [keyOf(payload, 'user'), keyOf(payload, 'message')];
    const place = String(keyOf(keyOf(payload, 'channel'), 'id'));
    const ts = String(keyOf(message, 'ts'));
    const id = `${ts} ${keyOf(user, 'id')} ${keyOf(action, 'action_ts')}`;
    if (!isNew(id)) return;
    const said = { kind: 'button', data } as const;
    const answered = await answer({ ...eventOf(id, user, place), prefix: mentionOfBot, said });
    const spot = { place, ts, thread: String(keyOf(message, 'thread_ts') ?? ts) };
    const trigger = keyOf(payload, 'trigger_id');
    if (answered.form === undefined) return post(answered, spot, user, signal);
    const view = drawForm(answered.form, `${place} ${ts} ${spot.thread}`);
    const shown = await call('views.open', { trigger_id: String(trigger), view }, signal);
    // A dialog opens within 3 s of the press or never: what to write in its place is said then.
    if (keyOf(shown, 'ok') !== true) await post(answered, spot, user, signal);
  }

  async function submit(payload: unknown, signal: AbortSignal): Promise<void> {
    const view = keyOf(payload, 'view');
    const [place = '', ts = '', thread = '', ...data] = String(keyOf(view, 'private_metadata')).split(' ');
    const filled = (block: string): string =>
      String(keyOf(keyOf(keyOf(keyOf(keyOf(view, 'state'), 'values'), block), block), 'value') ?? '');
    const user = keyOf(payload, 'user');
    const id = String(keyOf(view, 'id'));
    if (!isNew(id)) return;
    const said = { kind: 'form', data: data.join(' '), amount: filled('amount'), by: filled('by') } as const;
    const answered = await answer({ ...eventOf(id, user, place), said });
    await post(answered, { place, ts, thread }, user, signal);
  }

  async function readText(payload: unknown, since: number, signal: AbortSignal): Promise<void> {
    const event = keyOf(payload, 'event');
    const [type, text, ts, place] = ['type', 'text', 'ts', 'channel'].map((key) => keyOf(event, key));
    const isDirect = type === 'message' && keyOf(event, 'channel_type') === 'im';
    const isOwn = keyOf(event, 'bot_id') !== undefined || !writtenSubtypes.has(keyOf(event, 'subtype'));
    const id = String(keyOf(payload, 'event_id'));
    if ((type !== 'app_mention' && !isDirect) || isOwn || typeof text !== 'string' || !isNew(id)) return;
    const user = { id: keyOf(event, 'user'), name: await nameOf(String(keyOf(event, 'user')), signal) };
    // An edit of a mention is another event of the same message.
    const isEdited = keyOf(event, 'edited') !== undefined;
    const at = Math.max(Number(ts) * 1000, since);
    const answered = await answer({
      ...eventOf(id, user, String(place)),
      ...(Number.isFinite(at) && { at }),
      said: { kind: 'text', text: wordsOf(text), isEdited },
    });
    const spot = { place: String(place), ts: String(ts), thread: String(keyOf(event, 'thread_ts') ?? ts) };
    await post({ ...answered, isPublic: true }, spot, user, signal);
  }

  /**
   * Deeds are said in the thread where all see them, the rest to the person who asked, beside what was pressed: in a thread that has no
   * reply yet Slack shows nothing that is for one person alone (docs.slack.dev, chat.postEphemeral).
   */
  async function post(
    { text, isPublic }: ChatAnswer,
    { place, ts, thread }: Spot,
    user: unknown,
    signal: AbortSignal,
  ): Promise<void> {
    const fields = { channel: place, text: literalMrkdwn(cutLines(text, 3000)) };
    const [method, whole] = isPublic
      ? ['chat.postMessage', { ...fields, unfurl_links: false }]
      : ['chat.postEphemeral', { ...fields, user: String(keyOf(user, 'id')) }];
    const within = isPublic || thread !== ts ? { thread_ts: thread } : {};
    const said = await call(method, { ...whole, ...within }, signal);
    if (isThreadGone(said)) await call(method, whole, signal);
  }

  /** With the scope users:read; the id without it. */
  async function nameOf(id: string, signal: AbortSignal): Promise<string> {
    const found = names.get(id);
    if (found !== undefined) return found;
    const user = keyOf(await call('users.info', { user: id }, signal), 'user');
    const called = keyOf(user, 'real_name') || keyOf(user, 'name');
    if (called) names.set(id, String(called));
    return String(called || id);
  }

  async function call(
    method: string,
    fields: SlackFields,
    signal: AbortSignal,
    token = botToken,
  ): Promise<unknown> {
    try {
      const said = await calls.call(
        { clock, afterMs: callMs, outer: signal },
        (ending) => callSlack(method, fields, { apiUrl, token, signal: ending, dispatcher, clock }),
        { method, waitAskedBy, ...(token === appToken ? patient : { maxWaitMs, tries: 2 }) },
      );
      return parseJson(said.body);
    } catch {
      return { error: unheard.lost({ receiver }) };
    }
  }

  function waitAskedBy(answered: HttpAnswer): number | null {
    const taken = classifyAnswer(slackBotAnswers, answered, { now: clock.now(), texts });
    const isLimited = taken.kind === 'retry' && taken.certainty === 'refused';
    return isLimited ? (taken.afterMs ?? secondMs) : null;
  }
}

/** The text as people see it: Slack makes links of what looks like an address (docs.slack.dev, formatting message text). */
function wordsOf(text: string): string {
  return unescapeSlack(text.replace(/<@[^<>]*>|`/g, ' ').replace(/<(?:[^<>|]*\|)?([^<>]*)>/g, '$1'));
}

/** A modal (docs.slack.dev, views): `place` comes back with what was filled in. */
function drawForm(form: NonNullable<ChatAnswer['form']>, place: string): object {
  const plain = (text: string, limit: number) => ({ type: 'plain_text', text: cutText(text, limit) });
  const input = (id: string, { label, value }: typeof form.amount, optional: boolean) => ({
    ...{ type: 'input', block_id: id, optional, label: plain(label, 2000) },
    element: {
      ...{ type: 'plain_text_input', action_id: id },
      ...(value === '' ? {} : { initial_value: value }),
    },
  });
  return {
    type: 'modal',
    private_metadata: `${place} ${form.data}`.slice(0, 3000),
    title: plain(form.title, 24),
    submit: plain(form.send, 24),
    blocks: [input('amount', form.amount, false), input('by', form.by, true)],
  };
}
