import { type Logger, LogLevel, WebClient } from '@slack/web-api';
import { Secret } from '../../domain/secret.ts';
import { type HttpAnswer, jsonOf } from '../../net/http-answer.ts';
import { deliverWithin, openHttpConnections } from '../../net/http-post.ts';
import type { Delivery } from '../../ports/channel.ts';
import { classifyAnswer } from '../answers.ts';
import type { Sender, SenderDependencies } from '../kind.ts';
import { pause } from '../pause.ts';
import { tryRender } from '../rendering.ts';
import { asMarkdown, renderSlack, renderSlackPlainly, type SlackPayload } from './render-slack.ts';
import { isLayoutRefused, isThreadGone, slackBotAnswers } from './slack-bot-answers.ts';
import { callSlack } from './slack-call.ts';
import type { SlackBot, SlackSettings } from './slack-settings.ts';
import { firstMessagesOf, isSettled, type SlackPlace, threadOf, writeReceipt } from './slack-thread.ts';

/** Between calls of one message: chat.update is for 50 a minute (docs.slack.dev, rate limits, tier 3). */
const gapMs = 1200;
/** First messages that one message brings up to date; the others say what they said. */
const maxEdits = 20;

/** Links are shown as links, without what stands behind them. */
const asWritten = { unfurl_links: false, unfurl_media: false };

export interface SlackBotSenderOptions extends SenderDependencies {
  readonly settings: SlackBot & Pick<SlackSettings, 'mention'>;
  /** For one call. */
  readonly timeoutMs?: number;
}

/**
 * Posts by Slack's own client as a bot: the first message of an incident into the channel, what follows into its thread, and the
 * first message is edited to how things stand. Who has to act is told before anything is edited. What asks nobody to act is
 * told after the edit, which then is as sure to happen as the message: an edit can be done twice, and no message makes up for it.
 */
export function openSlackBotSender(options: SlackBotSenderOptions): Sender {
  const { clock, texts, timeoutMs = 10_000, settings } = options;
  const { botToken, channel, apiUrl, mention } = settings;
  const dispatcher = openHttpConnections(new Secret(apiUrl), { clock });
  const classify = (answer: HttpAnswer) =>
    classifyAnswer(slackBotAnswers, answer, { now: clock.now(), texts });

  function call(method: string, body: Readonly<Record<string, unknown>>, signal: AbortSignal) {
    return callSlack({ signal, dispatcher, clock }, (fetch) =>
      new WebClient(botToken.reveal(), {
        slackApiUrl: `${apiUrl}/`,
        fetch,
        logger: silent,
        // The outbox retries, and knows how long to wait.
        retryConfig: { retries: 0 },
        rejectRateLimitedCalls: true,
      }).apiCall(method, { ...body }),
    );
  }

  return {
    async send(message, outer) {
      const thread = threadOf(message, channel);
      const settled = isSettled(message);
      const rendered = tryRender(() => ({
        post: asMarkdown(renderSlack(message, mention)),
        plain: asMarkdown(renderSlackPlainly(message, mention)),
        edits: firstMessagesOf(message, channel)
          .slice(0, maxEdits)
          .map(({ place, content }) => ({ place, payload: asMarkdown(renderSlack(content)) })),
      }));
      if ('failed' in rendered) return rendered.failed;
      const { post, plain, edits } = rendered.rendered;
      const afterMs = timeoutMs + edits.length * (gapMs + 1000);
      return deliverWithin({ clock, afterMs, outer }, async (signal) => {
        const postInto = async (payload: SlackPayload, place: SlackPlace | null) => {
          const reply = place === null ? {} : { thread_ts: place.ts, reply_broadcast: !settled };
          return call('chat.postMessage', { channel, ...payload, ...reply, ...asWritten }, signal);
        };
        const notify = async (): Promise<Delivery> => {
          const first = await postInto(post, thread);
          if (!isLayoutRefused(first) && !(thread !== null && isThreadGone(first)))
            return withReceipt(first, thread);
          await pause(clock, gapMs, signal);
          const into = isThreadGone(first) ? null : thread;
          return withReceipt(await postInto(into === thread ? plain : post, into), into);
        };
        const edit = async (): Promise<Delivery | null> => {
          for (const { place, payload } of edits) {
            // What is left out would stay as it was; `mrkdwn` it does not know.
            const { text, attachments = [] } = payload;
            const delivery = classify(await call('chat.update', { ...place, text, attachments }, signal));
            // What cannot be edited any more stays as it is: the message says what is so.
            if (delivery.kind === 'retry') return delivery;
            await pause(clock, gapMs, signal);
          }
          return null;
        };
        if (settled) return (await edit()) ?? (await notify());
        const delivery = await notify();
        if (delivery.kind === 'delivered' && edits.length > 0) await edit().catch(() => null);
        return delivery;
      });
    },
    preview: async (message) => JSON.stringify(asMarkdown(renderSlack(message, mention))),
    close: () => dispatcher.destroy(),
  };

  /** With the name of the message that a thread can hang on, where it is none of a thread. */
  function withReceipt(answer: HttpAnswer, thread: SlackPlace | null): Delivery {
    const delivery = classify(answer);
    const { channel: id, ts } = jsonOf(answer) ?? {};
    return delivery.kind === 'delivered' &&
      thread === null &&
      typeof id === 'string' &&
      typeof ts === 'string'
      ? { ...delivery, receipt: writeReceipt(channel, { channel: id, ts }) }
      : delivery;
  }
}

/** Slack's client would write to the terminal by itself. */
const silent: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  setLevel: () => undefined,
  getLevel: () => LogLevel.ERROR,
  setName: () => undefined,
};
