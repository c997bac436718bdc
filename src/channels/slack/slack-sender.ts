import { IncomingWebhook, IncomingWebhookHTTPError, type IncomingWebhookSendArguments } from '@slack/webhook';
import { type Dispatcher, fetch } from 'undici';
import type { Clock } from '../../domain/ports.ts';
import { classifyAnswer } from '../answers.ts';
import type { HttpAnswer } from '../http-answer.ts';
import { deliverWithin, openHttpConnections } from '../http-post.ts';
import type { Sender, SenderDependencies } from '../kind.ts';
import { tryRender } from '../rendering.ts';
import { renderSlack, renderSlackPlainly, type SlackPayload } from './render-slack.ts';
import { slackAnswers } from './slack-answers.ts';
import type { SlackSettings } from './slack-settings.ts';

/** Slack takes one message a second per webhook (docs.slack.dev, rate limits). */
const gapMs = 1000;

export interface SlackSenderOptions extends SenderDependencies {
  readonly settings: Pick<SlackSettings, 'webhookUrl' | 'mention' | 'accept'>;
  /** For the whole exchange. */
  readonly timeoutMs?: number;
}

/**
 * Posts to a Slack incoming webhook by Slack's own client. It retries nothing by itself but what Slack found unreadable, once, as
 * plain text.
 */
export function openSlackSender(options: SlackSenderOptions): Sender {
  const { clock, texts, timeoutMs = 10_000 } = options;
  const { webhookUrl, mention, accept } = options.settings;
  const table = slackAnswers(accept);
  const dispatcher = openHttpConnections(webhookUrl);
  const classify = (answer: HttpAnswer) => classifyAnswer(table, answer, { now: clock.now(), texts });
  return {
    async send(message, outer) {
      const blocks = tryRender(() => renderSlack(message, mention));
      if ('failed' in blocks) return blocks.failed;
      return deliverWithin({ clock, afterMs: timeoutMs, outer }, async (signal) => {
        const post = (payload: SlackPayload): Promise<HttpAnswer> =>
          postToSlack({ url: webhookUrl.reveal(), payload, signal, dispatcher });
        const answer = await post(blocks.rendered);
        if (!isUnreadable(answer)) return classify(answer);
        await pause(clock, gapMs, signal);
        return classify(await post(renderSlackPlainly(message, mention)));
      });
    },
    preview: async (message) => JSON.stringify(renderSlack(message, mention)),
    close: () => dispatcher.destroy(),
  };
}

/** 400 is how Slack calls a payload invalid or too long, 413 how anything before it does. */
function isUnreadable(answer: HttpAnswer): boolean {
  return answer.status === 400 || answer.status === 413;
}

/**
 * Posts by Slack's client with undici's `fetch`, over our connections and under our deadline. A redirect comes back as the answer
 * that it is. Status and headers are noted on the way, for the client keeps neither of a refusal that says how long to wait.
 */
async function postToSlack(order: {
  readonly url: string;
  readonly payload: SlackPayload;
  readonly signal: AbortSignal;
  readonly dispatcher: Dispatcher;
}): Promise<HttpAnswer> {
  const { url, payload, signal, dispatcher } = order;
  const heads: Pick<HttpAnswer, 'status' | 'headers'>[] = [];
  const webhook = new IncomingWebhook(url, {
    fetch: async (address, init = {}) => {
      const { method = 'POST', headers = {}, body } = init;
      if (typeof body !== 'string') throw new Error('Slack’s client posts something else than text.');
      const response = await fetch(address, {
        method,
        headers,
        body,
        signal,
        dispatcher,
        redirect: 'manual',
      });
      heads.push({ status: response.status, headers: Object.fromEntries(response.headers) });
      return response;
    },
  });
  const body = await webhook.send(asSendArguments(payload)).then(({ text }) => text, bodyOfRefusal);
  const head = heads.at(-1);
  if (head === undefined) throw new Error('Slack’s client did not post.');
  return { ...head, body };
}

/** An answer that the client calls an error is an answer all the same. */
function bodyOfRefusal(error: unknown): string {
  if (error instanceof IncomingWebhookHTTPError) return error.body;
  throw error;
}

/** The client passes on whatever it gets as JSON; its types want mutable arrays and leave out `mrkdwn`. */
function asSendArguments(payload: SlackPayload): IncomingWebhookSendArguments {
  return payload as unknown as IncomingWebhookSendArguments;
}

function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = clock.setTimer(ms, () => {
      signal.removeEventListener('abort', stop);
      resolve();
    });
    const stop = (): void => {
      cancel();
      reject(new Error('stopped'));
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
