import { isAcknowledged } from '../../domain/alert.ts';
import { parseJson } from '../../domain/json.ts';
import type { Message, MessageItem } from '../../domain/message.ts';
import { Secret } from '../../domain/secret.ts';
import { pause } from '../../net/deadline.ts';
import type { HttpAnswer } from '../../net/http-answer.ts';
import { deliverWithin, openHttpConnections } from '../../net/http-post.ts';
import type { Delivery } from '../../ports/channel.ts';
import { classifyAnswer, valueAt } from '../answers.ts';
import { deliverParts, tryRender } from '../deliver-parts.ts';
import type { Sender, SenderDependencies } from '../kind.ts';
import type { Mention } from '../mention.ts';
import { asMarkdown, renderSlack, renderSlackPlainly, type SlackPayload } from './render-slack.ts';
import { isLayoutRefused, isThreadGone, slackBotAnswers } from './slack-answers.ts';
import { callSlack, type SlackBot, type SlackFields } from './slack-bot.ts';

/** The gap between the calls of one message: chat.update is for 50 a minute (docs.slack.dev, rate limits, tier 3). */
const gapMs = 1200;
/** The most first messages that one message brings up to date; the others stay as they are. */
const maxEdits = 20;
/** Shorter than the limit of a message, because the next message waits for the edit. */
const editTimeoutMs = 5000;

const asWritten = { unfurl_links: false, unfurl_media: false };

/**
 * Posts as a bot: the first message of an incident goes into the channel, later ones into its thread. Then the first message is edited to the
 * present state. An edit that fails for now is owed, as a part of the message: it is tried again by itself, and neither this message nor
 * another waits for it.
 */
export function openSlackBotSender(
  { botToken, channel, apiUrl, chat, mention }: SlackBot & { readonly mention: Mention },
  { clock, texts, timeoutMs = 10_000 }: SenderDependencies,
): Sender {
  const dispatcher = openHttpConnections(new Secret(apiUrl), { clock });
  /** The last edit that Slack refused for now, and when it takes edits again. Messages do not wait for edits. */
  let refused: Extract<Delivery, { readonly kind: 'retry' }> | null = null;
  let editsFrom = 0;
  const classify = (answer: HttpAnswer) =>
    classifyAnswer(slackBotAnswers, answer, { now: clock.now(), texts });

  const call = (method: string, fields: SlackFields, signal: AbortSignal) =>
    callSlack(method, fields, { apiUrl, token: botToken, signal, dispatcher, clock });

  return {
    async send(message, outer) {
      const thread = threadOf(message, channel);
      const settled = isSettled(message);
      const rendered = tryRender(() => ({
        post: asMarkdown(renderSlack(message, mention, chat !== null)),
        plain: asMarkdown(renderSlackPlainly(message, mention)),
        edits: firstMessagesOf(message, channel)
          .slice(0, maxEdits)
          .map(({ place, content }) => ({
            name: `the edit of ${place.ts}`,
            place,
            payload: asMarkdown(renderSlack(content, {}, chat !== null)),
          })),
      }));
      if ('failed' in rendered) return rendered.failed;
      const { post, plain, edits } = rendered.rendered;
      const notify = async (signal: AbortSignal): Promise<Delivery> => {
        const postInto = (payload: SlackPayload, place: SlackPlace | null) => {
          const reply = place === null ? {} : { thread_ts: place.ts, reply_broadcast: !settled };
          return call('chat.postMessage', { channel, ...payload, ...reply, ...asWritten }, signal);
        };
        const first = await postInto(post, thread);
        const isGone = thread !== null && isThreadGone(parseJson(first.body));
        if (!isLayoutRefused(first) && !isGone) return withReceipt(first, thread);
        await pause(clock, gapMs, signal);
        const into = isGone ? null : thread;
        return withReceipt(await postInto(into === thread ? plain : post, into), into);
      };
      const edit = async (
        { place, payload }: (typeof edits)[number],
        signal: AbortSignal,
      ): Promise<Delivery> => {
        await pause(clock, gapMs, signal);
        const leftMs = editsFrom - clock.monotonic();
        if (refused !== null && leftMs > 0) return { ...refused, afterMs: leftMs };
        // chat.update keeps parts that are left out, and does not know `mrkdwn`.
        const { text, attachments = [] } = payload;
        const delivery = classify(await call('chat.update', { ...place, text, attachments }, signal));
        // A message that cannot be edited any more stays as it is: the new one says the present state.
        if (delivery.kind !== 'retry') return { kind: 'delivered' };
        refused = { ...delivery, isForAll: false };
        editsFrom = clock.monotonic() + (delivery.afterMs ?? 0);
        return refused;
      };
      const update = (recipients: readonly string[] | undefined): Promise<Delivery> =>
        deliverParts(
          edits,
          recipients === undefined ? {} : { recipients },
          (part) => deliverWithin({ clock, afterMs: editTimeoutMs, outer }, (signal) => edit(part, signal)),
          1,
        );
      if (message.recipients !== undefined) return update(message.recipients);
      const posted = await deliverWithin({ clock, afterMs: timeoutMs, outer }, notify);
      if (posted.kind !== 'delivered') return posted;
      const edited = await update(undefined);
      if (edited.kind !== 'retry') return { ...edited, ...posted };
      const { afterMs, reason } = edited;
      const names = edits.map(({ name }) => name);
      // All edits are owed. The one that failed goes last, so that it holds up no other.
      const recipients = [...names.slice(1), ...names.slice(0, 1)];
      return { ...posted, owed: { recipients, reason, ...(afterMs === undefined ? {} : { afterMs }) } };
    },
    preview: async (message) => JSON.stringify(asMarkdown(renderSlack(message, mention, chat !== null))),
    close: () => dispatcher.destroy(),
  };

  /** The delivery; its receipt names the message, for a thread to begin there, unless the message is itself in a thread. */
  function withReceipt(answer: HttpAnswer, thread: SlackPlace | null): Delivery {
    const delivery = classify(answer);
    const [id, ts] = [valueAt(answer, 'channel'), valueAt(answer, 'ts')];
    return delivery.kind === 'delivered' &&
      thread === null &&
      typeof id === 'string' &&
      typeof ts === 'string'
      ? { ...delivery, receipt: `${channel} ${id} ${ts}` }
      : delivery;
  }
}

/** A message that Slack holds. `ts` is its id, not a number. */
type SlackPlace = Readonly<Record<'channel' | 'ts', string>>;

/** `posted`: the channel as the configuration calls it. Null for a receipt of another channel: the incident begins in this one. */
function readReceipt(receipt: string | null, posted: string): SlackPlace | null {
  const [wanted, channel, ts] = receipt?.split(' ') ?? [];
  return wanted === posted && channel !== undefined && ts !== undefined ? { channel, ts } : null;
}

/** The thread for a message: where all its incidents began; null if they did not begin in one place. */
function threadOf(message: Message, posted: string): SlackPlace | null {
  if (message.kind !== 'incidents') return null;
  const [first = null, ...others] = new Set(message.items.map(({ receipt }) => receipt));
  return others.length > 0 ? null : readReceipt(first, posted);
}

/** The first messages of a message's incidents, each with all items that belong to it, in their present state. */
function firstMessagesOf(message: Message, posted: string) {
  if (message.kind !== 'incidents') return [];
  const notified = [...new Set([...message.companions, ...message.items])];
  return [...new Set(message.items.map(({ receipt }) => receipt))].flatMap((receipt) => {
    const place = readReceipt(receipt, posted);
    if (place === null) return [];
    const items = notified.filter((item) => item.receipt === receipt).map(asItStands);
    return [{ place, content: { ...message, items, companions: [] } }];
  });
}

/** Whether the message asks nobody to do anything: each incident is over, or somebody has it. */
function isSettled(message: Message): boolean {
  return (
    message.kind === 'incidents' &&
    message.items.every(({ incident }) => incident.resolvedAt !== null || isAcknowledged(incident))
  );
}

function asItStands(item: MessageItem): MessageItem {
  const { incident } = item;
  if (incident.resolvedAt !== null) return { ...item, kinds: ['resolved'] };
  return { ...item, kinds: [isAcknowledged(incident) ? 'acknowledged' : 'firing'] };
}
