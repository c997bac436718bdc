import { getOrMake } from '../../domain/get-or-make.ts';
import { keyOf, parseJson } from '../../domain/json.ts';
import { textBehind } from '../../domain/secret.ts';
import type { HttpAnswer } from '../../net/http-answer.ts';
import { type HttpPost, openHttpConnections, postOnce } from '../../net/http-post.ts';
import type { Clock } from '../../ports/clock.ts';
import { callChat } from '../chats/call-chat.ts';
import { readSeconds } from '../post-kind.ts';
import type { PostSettings } from '../receiver.ts';

/** The time limit of a call of the Bot API, except long polls. */
export const answerMs = 15_000;

interface BotAnswer extends HttpAnswer {
  readonly json: unknown;
}

export async function postToBot(
  { keys, address }: PostSettings,
  { method, body }: { readonly method: string; readonly body: object },
  limits: Pick<HttpPost, 'signal' | 'dispatcher' | 'clock'>,
): Promise<BotAnswer> {
  const said = await postOnce({
    ...limits,
    url: `${address.reveal()}/bot${textBehind(keys.botToken)}/${method}`,
    headers: { 'content-type': 'application/json', 'user-agent': 'lowwater' },
    body: JSON.stringify(body),
  });
  return { ...said, json: parseJson(said.body) };
}

export function waitAskedBy({ json }: BotAnswer): number | null {
  return readSeconds(keyOf(keyOf(json, 'parameters'), 'retry_after'));
}

/** New ids of groups that became supergroups, by settings: messages go on under the new id (`migrate_to_chat_id`). */
const migrated = new WeakMap<PostSettings, string>();

export const chatOf = (settings: PostSettings): string =>
  migrated.get(settings) ?? textBehind(settings.keys.chatId);

/** Takes the new id of the group from an answer that has one. */
export function noteMove(json: unknown, settings: PostSettings): void {
  const moved = keyOf(keyOf(json, 'parameters'), 'migrate_to_chat_id');
  if (typeof moved === 'number') migrated.set(settings, String(moved));
}

/** Other chats for which the channel's own chat was looked up already, by settings. */
const lookedUpFor = new WeakMap<PostSettings, Set<string>>();

/** Looks up the channel's new id if its group became a supergroup since the last message: what is heard in another group may belong to it. */
export async function lookUpMove(settings: PostSettings, other: string, clock: Clock): Promise<void> {
  const known = getOrMake(lookedUpFor, settings, () => new Set<string>());
  // Groups have negative ids: a person who writes to the bot alone causes no look-up.
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
