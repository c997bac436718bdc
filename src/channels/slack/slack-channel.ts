import { IncomingWebhook, IncomingWebhookHTTPError, type IncomingWebhookSendArguments } from '@slack/webhook';
import type { Channel } from '../../daemon/ports.ts';
import { cleanText } from '../../domain/plain-text.ts';
import type { Clock, Delivery } from '../../domain/ports.ts';
import { longestRetryAfterMs } from '../../domain/retry-after.ts';
import type { Secret } from '../../domain/secret.ts';
import {
  deliverWithin,
  type HttpAnswer,
  openHttpConnections,
  postOnce,
  readRetryAfter,
} from '../http-post.ts';
import { tryRender } from '../rendering.ts';
import { renderSlack, renderSlackPlainly, type SlackPayload } from './render-slack.ts';

/** Slack takes one message a second per webhook (docs.slack.dev, rate limits). */
const gapMs = 1000;

export interface SlackChannelOptions {
  readonly name: string;
  readonly webhookUrl: Secret;
  readonly clock: Clock;
  /** For the whole exchange. */
  readonly timeoutMs?: number;
}

/**
 * A channel that posts to a Slack incoming webhook. It retries nothing by itself but what Slack found
 * unreadable, once, as plain text.
 */
export function createSlackChannel(options: SlackChannelOptions): Channel {
  const dispatcher = openHttpConnections(options.webhookUrl);
  return {
    name: options.name,
    type: 'slack',
    minGapMs: gapMs,
    paceKey: options.webhookUrl.reveal(),
    async send(message, outer) {
      const blocks = tryRender(() => renderSlack(message));
      if ('failed' in blocks) return blocks.failed;
      const { clock, webhookUrl, timeoutMs = 10_000 } = options;
      return deliverWithin({ clock, afterMs: timeoutMs, outer }, async (signal) => {
        const post = (payload: SlackPayload): Promise<HttpAnswer> =>
          postToSlack({ url: webhookUrl.reveal(), payload, signal, dispatcher });
        const answer = await post(blocks.rendered);
        if (!isUnreadable(answer)) return classifySlackAnswer(answer, clock.now());
        await pause(clock, gapMs, signal);
        return classifySlackAnswer(await post(renderSlackPlainly(message)), clock.now());
      });
    },
    close: () => dispatcher.destroy(),
  };
}

/**
 * What an answer of Slack means (docs.slack.dev, "Handling errors" of incoming webhooks).
 *
 * | answer | meaning |
 * | --- | --- |
 * | 200 `ok` | delivered; the same in JSON, as workflow triggers and compatible servers say it |
 * | 200 with anything else | unknown: something between us and Slack answered |
 * | 3xx | dead: the address of a webhook is a credential and never follows a redirect |
 * | 429 | refused; wait as `Retry-After` or `retry_after` say |
 * | 408, 5xx | unknown |
 * | other 4xx | dead: `no_service`, `channel_is_archived`, `invalid_token`, a payload that is refused as plain text too |
 */
function classifySlackAnswer(answer: HttpAnswer, now: number): Delivery {
  const { status } = answer;
  if (status >= 200 && status < 300) {
    return isAccepted(answer.body)
      ? { kind: 'delivered' }
      : { kind: 'retry', certainty: 'unknown', reason: 'the answer is not from Slack' };
  }
  const said = `Slack answered ${status}${wordOf(answer.body)}`;
  if (status === 429) {
    const afterMs = readRetryAfter(answer, now) ?? retryAfterOfBody(answer.body);
    return { kind: 'retry', certainty: 'refused', reason: said, ...(afterMs === null ? {} : { afterMs }) };
  }
  if (status === 408 || status >= 500) {
    const afterMs = readRetryAfter(answer, now);
    return { kind: 'retry', certainty: 'unknown', reason: said, ...(afterMs === null ? {} : { afterMs }) };
  }
  if (status < 400)
    return {
      kind: 'dead',
      reason: `${said}: a redirect, which is never followed; check the webhook address`,
    };
  return { kind: 'dead', reason: said };
}

/** 400 is how Slack calls a payload invalid or too long, 413 how anything before it does. */
function isUnreadable(answer: HttpAnswer): boolean {
  return answer.status === 400 || answer.status === 413;
}

/**
 * Posts by Slack's own client, over our connections: its `fetch` would follow the rules of the browser, and
 * its errors drop the headers that say how long to wait.
 */
async function postToSlack(order: {
  readonly url: string;
  readonly payload: SlackPayload;
  readonly signal: AbortSignal;
  readonly dispatcher: Parameters<typeof postOnce>[0]['dispatcher'];
}): Promise<HttpAnswer> {
  let answer: HttpAnswer | null = null;
  let failure: unknown = null;
  const webhook = new IncomingWebhook(order.url, {
    fetch: async (_url, init) => {
      try {
        answer = await postOnce({
          url: order.url,
          headers: init?.headers ?? {},
          body: typeof init?.body === 'string' ? init.body : '',
          signal: order.signal,
          dispatcher: order.dispatcher,
        });
      } catch (error) {
        failure = error;
        throw error;
      }
      return asFetchResponse(answer, order.url);
    },
  });
  try {
    await webhook.send(asSendArguments(order.payload));
  } catch (error) {
    if (!(error instanceof IncomingWebhookHTTPError) || answer === null) throw failure ?? error;
  }
  if (answer === null) throw new Error('Slack’s client did not post.');
  return answer;
}

type SlackFetch = NonNullable<NonNullable<ConstructorParameters<typeof IncomingWebhook>[1]>['fetch']>;

function asFetchResponse(answer: HttpAnswer, url: string): Awaited<ReturnType<SlackFetch>> {
  return {
    ok: answer.status >= 200 && answer.status < 300,
    status: answer.status,
    statusText: '',
    url,
    headers: { get: () => null, entries: () => [] },
    arrayBuffer: () => Promise.resolve(new TextEncoder().encode(answer.body).buffer),
    json: () => Promise.resolve(JSON.parse(answer.body)),
    text: () => Promise.resolve(answer.body),
  };
}

/** The client passes on whatever it gets as JSON; its types want mutable arrays and leave out `mrkdwn`. */
function asSendArguments(payload: SlackPayload): IncomingWebhookSendArguments {
  return payload as unknown as IncomingWebhookSendArguments;
}

function isAccepted(body: string): boolean {
  const text = body.trim();
  if (text === '' || text === 'ok') return true;
  const json = parseObject(text);
  return json !== null && json.ok !== false;
}

function retryAfterOfBody(body: string): number | null {
  const seconds = parseObject(body)?.retry_after;
  if (typeof seconds !== 'number' || !(seconds >= 0)) return null;
  return Math.min(Math.ceil(seconds * 1000), longestRetryAfterMs);
}

/** Slack's one-word reasons are worth quoting; anything longer is a page of something else. */
function wordOf(body: string): string {
  const text = body.trim();
  return /^[a-z_]{2,60}$/.test(text) ? ` ${cleanText(text, 60)}` : '';
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
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
