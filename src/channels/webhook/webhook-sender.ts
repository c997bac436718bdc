import { createHmac } from 'node:crypto';
import { mapTexts } from '../../domain/json.ts';
import { type IncidentMessage, type Message, type MessageItem, worstFiring } from '../../domain/message.ts';
import { formatMicros } from '../../domain/money.ts';
import type { Secret } from '../../domain/secret.ts';
import type { ChannelSettings } from '../../domain/settings.ts';
import { isoText } from '../../domain/time.ts';
import { currencyOf } from '../../messages/item-wording.ts';
import { wordCard } from '../../messages/message-wording.ts';
import { renderText } from '../../messages/render-text.ts';
import { joinSentences } from '../../wording/lists.ts';
import type { Accept, AnswerTable } from '../answers.ts';
import type { Sender, SenderDependencies } from '../kind.ts';
import { openPostSender } from '../post-sender.ts';
import { balancePrefix, labelPrefix, placeholder, type Template } from './template-schema.ts';
import { alertData, renderWebhookPayload } from './webhook-payload.ts';

export interface WebhookSettings extends ChannelSettings {
  readonly url: Secret;
  /** Standard Webhooks key, base64 after `whsec_`; null sends unsigned. */
  readonly secret: Secret | null;
  readonly headers: Readonly<Record<string, Secret>>;
  /** Undefined sends lowwater's own JSON; null is a template too. */
  readonly template: Template | undefined;
  /** Null takes any 2xx as a yes. */
  readonly accept: Accept | null;
}

/** Posts JSON, lowwater's own or by a template, signed as in the Standard Webhooks specification (standardwebhooks.com). */
export function openWebhookSender(
  { url, secret, headers, template }: Pick<WebhookSettings, 'url' | 'secret' | 'headers' | 'template'>,
  options: SenderDependencies & { readonly table: AnswerTable },
): Sender {
  const own = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value.reveal()]),
  );
  return openPostSender({
    ...options,
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

/** Standard Webhooks: HMAC-SHA256 over `id.timestamp.body`, the attempt's time in seconds; retries keep the id. */
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

/** A template's fields are those of the most urgent alert; a list with one entry has an entry for each alert. */
export function fillTemplate(template: Template, message: Message): string {
  if (message.kind !== 'incidents' || !Array.isArray(template) || template.length !== 1)
    return JSON.stringify(fill(template, valuesOf(message)));
  const [entry = null] = template;
  return JSON.stringify(message.items.map((item) => fill(entry, valuesOf({ ...message, items: [item] }))));
}

function fill(template: Template, values: ReadonlyMap<string, string>): Template {
  // Strict readers of JSON refuse a text with half a surrogate pair.
  const write = (text: string) =>
    text.replace(placeholder, (_, name: string) => values.get(name.trim()) ?? '').toWellFormed();
  return mapTexts(template, write);
}

function valuesOf(message: Message): ReadonlyMap<string, string> {
  const [item] = message.kind === 'incidents' ? message.items : [];
  const values = {
    title: wordCard(message, 1).headline,
    text: renderText(message, 10_000),
    severity: 'info',
    state: message.kind,
    status: 'firing',
    id: message.id,
    time: isoText(message.at),
    ...(item === undefined || message.kind !== 'incidents' ? {} : itemValues(item, message)),
  };
  const labels = Object.entries(item?.account?.labels ?? item?.incident.labels ?? {});
  const balances = Object.entries(item?.account?.reading?.balances ?? {});
  return new Map([
    ...Object.entries(values),
    ...labels.map(([name, label]) => [`${labelPrefix}${name}`, label] as const),
    ...balances.map(([id, micros]) => [`${balancePrefix}${id}`, formatMicros(micros)] as const),
  ]);
}

/** Text values in lowwater's own JSON keep their names. */
function itemValues(item: MessageItem, frame: IncidentMessage): Readonly<Record<string, string>> {
  const alert = alertData(item, frame);
  const texts = Object.entries(alert).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return {
    ...Object.fromEntries(texts),
    // The message's severity: a person woken by it must not sleep through a critical alert behind a more urgent warning.
    severity: worstFiring(frame.items) ?? item.severity,
    status: item.resolvedAt === null && alert.state !== 'resolved' ? 'firing' : 'resolved',
    'account.id': alert.account,
    'account.name': item.accountName,
    currency: currencyOf(item) ?? '',
    advice: joinSentences(alert.advice),
    pageUrl: alert.url ?? '',
  };
}
