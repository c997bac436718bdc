import { type Message, type MessageItem, stateOf } from '../../domain/message.ts';
import { isoText } from '../../domain/moment.ts';
import { formatMicros } from '../../domain/money.ts';
import { linkTo, wordItem } from '../../messages/item-wording.ts';
import { wordCard } from '../../messages/message-wording.ts';
import { renderText } from '../../messages/render-text.ts';
import {
  balancePrefix,
  type Field,
  isField,
  labelPrefix,
  placeholder,
  type Template,
} from './template-schema.ts';
import { quantityText } from './webhook-payload.ts';

/**
 * The body of a message by a template: its fields are those of the most urgent alert, what is unknown is empty. A list with one
 * entry has an entry for each alert, as Alertmanager's API wants it.
 */
export function fillTemplate(template: Template, message: Message): string {
  if (message.kind === 'incidents' && Array.isArray(template) && template.length === 1) {
    const [entry] = template;
    return JSON.stringify(
      message.items.map((item) => fill(entry ?? null, valuesOf({ ...message, items: [item] }))),
    );
  }
  return JSON.stringify(fill(template, valuesOf(message)));
}

function fill(template: Template, values: (name: string) => string): Template {
  if (typeof template === 'string') return template.replace(placeholder, (_, name: string) => values(name));
  if (typeof template !== 'object' || template === null) return template;
  if (Array.isArray(template)) return template.map((each: Template) => fill(each, values));
  return Object.fromEntries(Object.entries(template).map(([key, each]) => [key, fill(each, values)]));
}

function valuesOf(message: Message): (name: string) => string {
  const text = renderText(message, 10_000);
  const [item] = message.kind === 'incidents' ? message.items : [];
  const values: Readonly<Partial<Record<Field, string>>> = {
    title: wordCard(message, 1).headline,
    text,
    severity: 'info',
    state: message.kind,
    status: 'firing',
    id: message.id,
    time: isoText(message.at),
    ...(item === undefined || message.kind !== 'incidents' ? {} : itemValues(item, message)),
  };
  const labels = item?.account?.labels ?? item?.incident.labels ?? {};
  const balances = item?.account?.reading?.balances ?? {};
  return (name) => {
    if (isField(name)) return values[name] ?? '';
    if (name.startsWith(balancePrefix)) {
      const micros = balances[name.slice(balancePrefix.length)];
      return micros === undefined ? '' : formatMicros(micros);
    }
    const label = name.slice(labelPrefix.length);
    return Object.hasOwn(labels, label) ? (labels[label] ?? '') : '';
  };
}

function itemValues(
  item: MessageItem,
  frame: { readonly timezone: string; readonly at: number; readonly publicUrl: string | null },
): Partial<Record<Field, string>> {
  const words = wordItem(item, frame);
  const reading = item.account?.reading ?? null;
  return {
    severity: item.severity,
    state: stateOf(item),
    status: item.resolvedAt === null && stateOf(item) !== 'resolved' ? 'firing' : 'resolved',
    'account.id': item.incident.account,
    'account.name': item.accountName,
    rule: item.rule,
    type: item.type,
    incident: item.incident.id,
    value: quantityText(item.value) ?? '',
    threshold: quantityText(item.threshold) ?? '',
    currency: reading?.currency ?? '',
    firedAt: isoText(item.firedAt),
    resolvedAt: item.resolvedAt === null ? '' : isoText(item.resolvedAt),
    advice: words.advice.join(' '),
    note: words.note ?? '',
    topUpUrl: linkTo(words, 'top-up') ?? '',
    acknowledgeUrl: linkTo(words, 'acknowledge') ?? '',
    runbookUrl: linkTo(words, 'runbook') ?? '',
    pageUrl: linkTo(words, 'page') ?? '',
  };
}
