import type { ServerResponse } from 'node:http';
import { type HttpReceiver, type ReceivedPost, startHttpReceiver } from './http-receiver.ts';

/** What Slack holds of a message. */
export interface HeldMessage {
  readonly ts: string;
  readonly thread: string | null;
  readonly broadcast: boolean;
  readonly text: string;
  readonly attachments: readonly unknown[];
  readonly edits: number;
}

export interface SlackApi {
  readonly url: string;
  readonly posts: HttpReceiver['received'];
  /** In the order in which they were posted, as they stand now. */
  readonly messages: readonly HeldMessage[];
  /** The next calls end so, one after the other; a word is an `error`. */
  readonly next: (string | { readonly status: number; readonly headers?: Record<string, string> })[];
  /** Every call of this method is refused so; null ends that. */
  refuse(method: string, error: string | null): void;
  /** Every call of this method is one too many, for so many seconds. */
  limit(method: string, seconds: number): void;
  /** Removes a message and what hangs on it. */
  remove(ts: string): void;
  close(): Promise<void>;
}

export const apiToken = 'xoxb-1111-2222-very-secret-bot-token';
/** The channel that the bot is in, by its name and by its id. */
export const apiChannel = { name: '#alerts', id: 'C012AB3CD' };

/**
 * Slack's Web API as far as a bot needs it that posts and edits, as strict as its documentation (docs.slack.dev: chat.postMessage,
 * chat.update, Block Kit): the token as a bearer, arguments that the method knows, the limits of texts and blocks, an edit by the id of
 * the channel alone.
 */
export async function startSlackApi(): Promise<SlackApi> {
  const held: HeldMessage[] = [];
  const next: (string | { readonly status: number; readonly headers?: Record<string, string> })[] = [];
  const refused = new Map<string, (typeof next)[number]>();
  const receiver = await startHttpReceiver((response, post) => {
    const scripted = next.shift() ?? refused.get(post.path.replace('/api/', ''));
    if (typeof scripted === 'object') response.writeHead(scripted.status, scripted.headers).end('{}');
    else say(response, scripted === undefined ? answer(post, held) : { ok: false, error: scripted });
  });
  return {
    url: `http://127.0.0.1:${receiver.port}/api`,
    posts: receiver.received,
    messages: held,
    next,
    refuse: (method, error) => void (error === null ? refused.delete(method) : refused.set(method, error)),
    limit: (method, seconds) =>
      void refused.set(method, { status: 429, headers: { 'retry-after': String(seconds) } }),
    remove: (ts) =>
      void held.splice(0, held.length, ...held.filter((it) => it.ts !== ts && it.thread !== ts)),
    close: () => receiver.close(),
  };
}

function say(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));
}

const known: Readonly<Record<string, readonly string[]>> = {
  'chat.postMessage': [
    'channel',
    'text',
    'mrkdwn',
    'attachments',
    'thread_ts',
    'reply_broadcast',
    'unfurl_links',
    'unfurl_media',
  ],
  'chat.update': ['channel', 'ts', 'text', 'attachments'],
};

function answer(post: ReceivedPost, held: HeldMessage[]): object {
  const refuse = (error: string) => ({ ok: false, error });
  if (post.headers.authorization !== `Bearer ${apiToken}`) return refuse('invalid_auth');
  if (post.method !== 'POST') return refuse('invalid_post_type');
  if (!String(post.headers['content-type']).startsWith('application/x-www-form-urlencoded'))
    return refuse('invalid_post_type');
  const method = post.path.replace('/api/', '');
  const fields = Object.fromEntries(new URLSearchParams(post.body));
  const allowed = known[method];
  if (allowed === undefined) return refuse('unknown_method');
  const strange = Object.keys(fields).find((key) => !allowed.includes(key));
  if (strange !== undefined) return refuse(`invalid_arguments_${strange}`);
  const { text = '', attachments: written = '[]' } = fields;
  const attachments: readonly unknown[] = JSON.parse(written);
  const wrong = findWrong(text, attachments);
  if (wrong !== null) return refuse(wrong);
  return method === 'chat.update'
    ? update(fields, { held, text, attachments })
    : postMessage(fields, { held, text, attachments });
}

type Fields = Readonly<Record<string, string | undefined>>;

interface Content {
  readonly held: HeldMessage[];
  readonly text: string;
  readonly attachments: readonly unknown[];
}

function postMessage(fields: Fields, { held, text, attachments }: Content): object {
  const { channel = '', thread_ts: thread = null, reply_broadcast: broadcast = 'false' } = fields;
  if (channel !== apiChannel.name && channel !== apiChannel.id)
    return { ok: false, error: 'channel_not_found' };
  const parent = held.find(({ ts }) => ts === thread);
  if (thread !== null && (parent === undefined || parent.thread !== null))
    return { ok: false, error: 'thread_not_found' };
  const ts = `1795200000.${String(held.length + 1).padStart(6, '0')}`;
  held.push({ ts, thread, broadcast: broadcast === 'true', text, attachments, edits: 0 });
  return { ok: true, channel: apiChannel.id, ts, message: { text } };
}

function update(fields: Fields, { held, text, attachments }: Content): object {
  if (fields.channel !== apiChannel.id) return { ok: false, error: 'channel_not_found' };
  const place = held.findIndex(({ ts }) => ts === fields.ts);
  const before = held[place];
  if (before === undefined) return { ok: false, error: 'message_not_found' };
  held[place] = { ...before, text, attachments, edits: before.edits + 1 };
  return { ok: true, channel: apiChannel.id, ts: before.ts, text };
}

/** Limits in characters: text, section, field, label of a button, link; and 50 blocks. */
function findWrong(text: string, attachments: readonly unknown[]): string | null {
  if (text === '' && attachments.length === 0) return 'no_text';
  if (text.length > 40_000) return 'msg_too_long';
  if (attachments.length > 100) return 'too_many_attachments';
  const blocks = attachments.flatMap((attachment) => listAt(attachment, 'blocks'));
  if (blocks.length > 50) return 'invalid_blocks';
  if (JSON.stringify(blocks).length > 13_000) return 'msg_blocks_too_long';
  return blocks.every(isBlock) ? null : 'invalid_blocks';
}

function isBlock(block: unknown): boolean {
  const type = valueAt(block, 'type');
  if (type === 'divider') return true;
  if (type === 'section')
    return (
      isText(valueAt(block, 'text') ?? { text: 'x' }, 3000) &&
      listAt(block, 'fields').length <= 10 &&
      listAt(block, 'fields').every((field) => isText(field, 2000))
    );
  const elements = listAt(block, 'elements');
  if (type === 'context') return elements.length <= 10 && elements.every((element) => isText(element, 2000));
  return type === 'actions' && elements.length <= 25 && elements.every(isLinkButton);
}

function isLinkButton(element: unknown): boolean {
  const url = valueAt(element, 'url');
  return (
    valueAt(element, 'type') === 'button' &&
    isText(valueAt(element, 'text'), 75) &&
    (typeof url !== 'string' || (url.length <= 3000 && URL.canParse(url)))
  );
}

function isText(value: unknown, limit: number): boolean {
  const text = valueAt(value, 'text');
  return typeof text === 'string' && text.length > 0 && text.length <= limit;
}

function valueAt(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null
    ? Object.entries(value).find(([name]) => name === key)?.[1]
    : undefined;
}

function listAt(value: unknown, key: string): readonly unknown[] {
  const found = valueAt(value, key);
  return Array.isArray(found) ? found : [];
}
