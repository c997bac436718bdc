import { isLoopbackHost } from '../../domain/addresses.ts';
import { keyOf, parseJson } from '../../domain/json.ts';
import { cutLines, cutText } from '../../domain/plain-text.ts';
import { Secret } from '../../domain/secret.ts';
import { secondMs } from '../../domain/time.ts';
import { startDeadline } from '../../net/deadline.ts';
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
import { type Envelope, hearEnvelopes } from './slack-socket.ts';

const receiver = 'Slack';
const callMs = 10_000;
/** The longest wait that Slack may ask for before an answer to people. The answers to others wait as long. */
const maxWaitMs = 30 * secondMs;
/** More envelopes at once do not come from people. Slack sends an envelope again if it is not acknowledged. */
const maxWaiting = 100;
/** The number of event ids that are known, because an event that comes twice has the same id (a restart knows orders by the audit). */
const maxKnown = 1000;
/** A name that takes longer is not waited for: the press is stored first. */
const nameMs = 1.5 * secondMs;

/** Answers an envelope. */
type Say = () => Promise<void>;

const sayNothing: Say = async () => undefined;

/** The mention of the bot, by the name that its guide gives it: in a channel it hears only what begins with this. */
const mentionOfBot = '@lowwater ';

/** Kinds of messages that people write: plain, with a file, to the channel too, and in the third person (docs.slack.dev, message event). */
const writtenSubtypes = new Set<unknown>([undefined, 'file_share', 'thread_broadcast', 'me_message']);

/** A message: its channel, its `ts`, and that of the first message of its thread. */
type AnswerPlace = Readonly<Record<'place' | 'ts' | 'thread', string>>;

/**
 * Hears a channel by Socket Mode (docs.slack.dev, using Socket Mode): a WebSocket whose address Slack gives for an app-level token. The
 * orders in envelopes are done one after the other. Each envelope is acknowledged once its order is stored, because Slack never sends it
 * again. The answers go by the Web API, one after the other too, and no order waits for them.
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
  let orders = Promise.resolve();
  let answers = Promise.resolve();
  let waiting = 0;

  async function connect(
    signal: AbortSignal,
    connected: () => void,
    answering: AbortSignal,
  ): Promise<string> {
    const opened = await call('apps.connections.open', {}, signal, appToken);
    const url = URL.parse(String(keyOf(opened, 'url')));
    const isSafe = url?.protocol === 'wss:' || (url?.protocol === 'ws:' && isLoopbackHost(url.hostname));
    if (!isSafe) return problemOf(opened);
    const options = { url: url.href, dispatcher, clock, texts, signal, connected };
    return hearEnvelopes(options, (envelope) => take(envelope, answering));
  }

  return keepListening({ clock, dispatcher }, connect, () => orders.then(() => answers));

  function problemOf(said: unknown): string {
    const error = texts.clean(String(keyOf(said, 'error') ?? unheard.strange({ receiver })), 100);
    return /auth|token|scope|inactive/.test(error) ? unheard.appToken({ said: error }) : error;
  }

  /** Null if too many envelopes wait. */
  function take(envelope: Envelope, signal: AbortSignal): Promise<void> | null {
    if (waiting >= maxWaiting) return null;
    waiting += 1;
    orders = orders.then(async () => {
      const sayDone = await obey(envelope, signal);
      answers = answers.then(sayDone).finally(() => {
        waiting -= 1;
      });
    });
    return orders;
  }

  /** Resolves once the order is stored. */
  async function obey({ type, since, payload }: Envelope, signal: AbortSignal): Promise<Say> {
    const kind = keyOf(payload, 'type');
    if (type === 'events_api') return readText(payload, since, signal);
    if (kind === 'block_actions') return press(payload, since, signal);
    return kind === 'view_submission' ? submit(payload, signal) : sayNothing;
  }

  function isNew(id: string): boolean {
    if (known.has(id)) return false;
    known.add(id);
    for (const oldest of known.values().take(Math.max(0, known.size - maxKnown))) known.delete(oldest);
    return true;
  }

  async function eventOf(
    { id, user, chat }: { readonly id: string; readonly user: unknown; readonly chat: string },
    signal: AbortSignal,
  ): Promise<Omit<Heard, 'said'>> {
    const person = String(keyOf(user, 'id'));
    const login = keyOf(user, 'name') ?? keyOf(user, 'username');
    return { id, chat, person: { id: person, name: await nameOf(person, login, signal) } };
  }

  async function press(payload: unknown, since: number, signal: AbortSignal): Promise<Say> {
    const action = keyOf(keyOf(payload, 'actions'), 0);
    const data = keyOf(keyOf(action, 'selected_option'), 'value') ?? keyOf(action, 'value');
    // A button that is a link has no value.
    if (typeof data !== 'string') return sayNothing;
    const [user, message] = [keyOf(payload, 'user'), keyOf(payload, 'message')];
    const place = String(keyOf(keyOf(payload, 'channel'), 'id'));
    const ts = String(keyOf(message, 'ts'));
    const id = `${ts} ${keyOf(user, 'id')} ${keyOf(action, 'action_ts')}`;
    if (!isNew(id)) return sayNothing;
    const said = { kind: 'button', data } as const;
    const event = await eventOf({ id, user, chat: place }, signal);
    const at = instantOf(keyOf(action, 'action_ts'), since);
    const answered = await answer({ ...event, ...at, prefix: mentionOfBot, said });
    const answerPlace = { place, ts, thread: String(keyOf(message, 'thread_ts') ?? ts) };
    return async () => {
      const { form } = answered;
      const view = form && drawForm(form, `${place} ${ts} ${answerPlace.thread}`);
      const trigger = String(keyOf(payload, 'trigger_id'));
      const shown = view && (await call('views.open', { trigger_id: trigger, view }, signal));
      // A dialog opens within 3 s of the press or never. If it did not open, the answer says what to write in its place.
      if (keyOf(shown, 'ok') !== true) await post(answered, answerPlace, user, signal);
    };
  }

  async function submit(payload: unknown, signal: AbortSignal): Promise<Say> {
    const view = keyOf(payload, 'view');
    const [place = '', ts = '', thread = '', ...data] = String(keyOf(view, 'private_metadata')).split(' ');
    const filled = (block: string): string =>
      String(keyOf(keyOf(keyOf(keyOf(keyOf(view, 'state'), 'values'), block), block), 'value') ?? '');
    const user = keyOf(payload, 'user');
    const id = String(keyOf(view, 'id'));
    if (!isNew(id)) return sayNothing;
    const said = { kind: 'form', data: data.join(' '), amount: filled('amount'), by: filled('by') } as const;
    const event = await eventOf({ id, user, chat: place }, signal);
    const answered = await answer({ ...event, said });
    return () => post(answered, { place, ts, thread }, user, signal);
  }

  async function readText(payload: unknown, since: number, signal: AbortSignal): Promise<Say> {
    const event = keyOf(payload, 'event');
    const [type, text, ts, place] = ['type', 'text', 'ts', 'channel'].map((key) => keyOf(event, key));
    const isDirect = type === 'message' && keyOf(event, 'channel_type') === 'im';
    const isOwn = keyOf(event, 'bot_id') !== undefined || !writtenSubtypes.has(keyOf(event, 'subtype'));
    const id = String(keyOf(payload, 'event_id'));
    if ((type !== 'app_mention' && !isDirect) || isOwn || typeof text !== 'string' || !isNew(id))
      return sayNothing;
    const user = { id: keyOf(event, 'user') };
    // An edit of a mention is another event of the same message.
    const isEdited = keyOf(event, 'edited') !== undefined;
    const said = { kind: 'text', text: wordsOf(text), isEdited } as const;
    const written = await eventOf({ id, user, chat: String(place) }, signal);
    const answered = await answer({ ...written, ...instantOf(ts, since), said });
    const answerPlace = {
      place: String(place),
      ts: String(ts),
      thread: String(keyOf(event, 'thread_ts') ?? ts),
    };
    return () => post({ ...answered, isPublic: true }, answerPlace, user, signal);
  }

  /**
   * Orders that were done are told in the thread, where all see them, the rest only to the person who asked. In a thread without a reply Slack
   * shows nothing that is for one person alone (docs.slack.dev, chat.postEphemeral), so there it is said next to what was pressed.
   */
  async function post(
    { text, isPublic }: ChatAnswer,
    { place, ts, thread }: AnswerPlace,
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

  /** The name of a person, with the scope users:read; without it the `login` that a press brings, or the id. */
  async function nameOf(id: string, login: unknown, signal: AbortSignal): Promise<string> {
    const found = names.get(id);
    if (found !== undefined) return found;
    const deadline = startDeadline({ clock, afterMs: nameMs, outer: signal });
    const user = keyOf(await call('users.info', { user: id }, deadline.signal), 'user');
    deadline.clear();
    const called = keyOf(user, 'real_name') || keyOf(user, 'name');
    if (called) names.set(id, String(called));
    return String(called || login || id);
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

/** An instant by Slack's clock, but not before `since`: what a daemon finds after standing still may be hours old. */
function instantOf(ts: unknown, since: number): Pick<Heard, 'at'> {
  const at = Math.max(Number(ts) * 1000, since);
  return Number.isFinite(at) ? { at } : {};
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
    blocks: [input('amount', form.amount, false), input('by', form.by, form.by.isOptional)],
  };
}
