import { createHmac } from 'node:crypto';
import type { Secret } from '../../domain/secret.ts';
import type { ChannelSettings } from '../../domain/settings.ts';
import type { Accept } from '../accept.ts';
import type { AnswerTable } from '../answers.ts';
import type { Sender, SenderDependencies } from '../kind.ts';
import { openPostSender } from '../post-sender.ts';
import { fillTemplate } from './fill-template.ts';
import type { Template } from './template-schema.ts';
import { renderWebhookPayload } from './webhook-payload.ts';

export interface WebhookSettings extends ChannelSettings {
  readonly url: Secret;
  /** Standard Webhooks key, base64 after `whsec_`; null sends unsigned. */
  readonly secret: Secret | null;
  readonly headers: Readonly<Record<string, Secret>>;
  /** Undefined sends lowwater's own JSON; null is a template too. */
  readonly template: Template | undefined;
  /** Null takes any 2xx for a yes. */
  readonly accept: Accept | null;
}

/** Posts JSON, lowwater's own or by a template, signed as in the Standard Webhooks specification (standardwebhooks.com). */
export function openWebhookSender(
  options: SenderDependencies & {
    readonly settings: Pick<WebhookSettings, 'url' | 'secret' | 'headers' | 'template'>;
    readonly table: AnswerTable;
    readonly timeoutMs?: number;
  },
): Sender {
  const { url, secret, headers, template } = options.settings;
  const own = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value.reveal()]),
  );
  const { settings: _, ...limits } = options;
  return openPostSender({
    ...limits,
    address: url,
    render: (message) => {
      const body =
        template === undefined
          ? JSON.stringify(renderWebhookPayload(message))
          : fillTemplate(template, message);
      return [{ name: 'the message', body }];
    },
    prepare: ({ body }, { id, now }) => ({
      url: url.reveal(),
      headers: { ...signedHeaders({ id, body, secret, attemptedAt: now }), ...own },
      body,
    }),
  });
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
  const headers = { 'webhook-id': order.id, 'webhook-timestamp': timestamp };
  if (order.secret === null) return headers;
  const key = Buffer.from(order.secret.reveal().replace(/^whsec_/, ''), 'base64');
  const signature = createHmac('sha256', key)
    .update(`${order.id}.${timestamp}.${order.body}`)
    .digest('base64');
  return { ...headers, 'webhook-signature': `v1,${signature}` };
}
