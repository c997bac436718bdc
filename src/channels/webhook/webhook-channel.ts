import { createHmac } from 'node:crypto';
import type { Channel } from '../../daemon/ports.ts';
import type { Clock, Delivery } from '../../domain/ports.ts';
import type { Secret } from '../../domain/secret.ts';
import {
  deliverWithin,
  type HttpAnswer,
  openHttpConnections,
  postOnce,
  readRetryAfter,
} from '../http-post.ts';
import { tryRender } from '../rendering.ts';
import { renderWebhookPayload } from './webhook-payload.ts';

export interface WebhookChannelOptions {
  readonly name: string;
  readonly url: Secret;
  /** Standard Webhooks key, base64 with or without `whsec_`; null sends unsigned. */
  readonly secret: Secret | null;
  readonly clock: Clock;
  /** For the whole exchange. */
  readonly timeoutMs?: number;
}

/** A channel that posts JSON, signed as in the Standard Webhooks specification (standardwebhooks.com). */
export function createWebhookChannel(options: WebhookChannelOptions): Channel {
  const dispatcher = openHttpConnections(options.url);
  return {
    name: options.name,
    type: 'webhook',
    minGapMs: 0,
    async send(message, outer) {
      const { clock, url, secret, timeoutMs = 15_000 } = options;
      const body = tryRender(() => JSON.stringify(renderWebhookPayload(message)));
      if ('failed' in body) return body.failed;
      return deliverWithin({ clock, afterMs: timeoutMs, outer }, async (signal) => {
        const text = body.rendered;
        const headers = signedHeaders({ id: message.id, body: text, secret, attemptedAt: clock.now() });
        const answer = await postOnce({ url: url.reveal(), headers, body: text, signal, dispatcher });
        return classifyWebhookAnswer(answer, clock.now());
      });
    },
    close: () => dispatcher.destroy(),
  };
}

/**
 * Headers of the Standard Webhooks specification: the signature is HMAC-SHA256 over `id.timestamp.body`, the
 * timestamp that of the attempt in seconds, the id the same on every retry.
 */
export function signedHeaders(order: {
  readonly id: string;
  readonly body: string;
  readonly secret: Secret | null;
  readonly attemptedAt: number;
}): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(order.attemptedAt / 1000));
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'lowwater',
    'webhook-id': order.id,
    'webhook-timestamp': timestamp,
  };
  if (order.secret === null) return headers;
  const key = Buffer.from(order.secret.reveal().replace(/^whsec_/, ''), 'base64');
  const signature = createHmac('sha256', key)
    .update(`${order.id}.${timestamp}.${order.body}`)
    .digest('base64');
  return { ...headers, 'webhook-signature': `v1,${signature}` };
}

/**
 * What an answer means (Standard Webhooks, "Operational considerations"): 2xx delivered; 410 "gone" and other
 * 4xx dead, a redirect too; 429 refused for now; 408, 425 and 5xx unknown.
 */
function classifyWebhookAnswer(answer: HttpAnswer, now: number): Delivery {
  const { status } = answer;
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  const reason = `the receiver answered ${status}`;
  const afterMs = readRetryAfter(answer, now);
  const wait = afterMs === null ? {} : { afterMs };
  if (status === 429) return { kind: 'retry', certainty: 'refused', reason, ...wait };
  if (status === 408 || status === 425 || status >= 500)
    return { kind: 'retry', certainty: 'unknown', reason, ...wait };
  if (status < 400) return { kind: 'dead', reason: `${reason}: a redirect, which is never followed` };
  return { kind: 'dead', reason };
}
