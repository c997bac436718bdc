import { createHash } from 'node:crypto';
import { type MessageItem, stateOf } from '../domain/message.ts';

/** What is to be done with the incident. Its state decides, not what the message was written for: it may be late. */
export function actionFor(item: MessageItem): 'open' | 'acknowledge' | 'close' {
  if (item.resolvedAt !== null || ['resolved', 'closed'].includes(stateOf(item))) return 'close';
  return item.incident.acknowledgement === null ? 'open' : 'acknowledge';
}

/**
 * One item for each alert. A message that was late may speak of an incident that ended and of the next one of the same alert:
 * under one key the end of the first would close the second.
 */
export function latestOfEachAlert(items: readonly MessageItem[]): readonly MessageItem[] {
  const latest = new Map<string, MessageItem>();
  for (const item of items) {
    const known = latest.get(nameOfAlert(item));
    if (known === undefined || item.firedAt > known.firedAt) latest.set(nameOfAlert(item), item);
  }
  return [...latest.values()];
}

/** What people call the alert. Something that happened and has no end, such as a top-up, is one of its own each time. */
export function nameOfAlert(item: MessageItem): string {
  const { account, rule, id } = item.incident;
  return stateOf(item) === 'event' ? `${account}/${rule} ${id}` : `${account}/${rule}`;
}

/** One alert is one key for good: when it fires again after its end, an incident tool opens a new incident by itself. */
export function dedupKey(item: MessageItem, maxLength: number): string {
  const key = `lowwater/${nameOfAlert(item)}`;
  return key.length <= maxLength ? key : `lowwater/${createHash('sha256').update(key).digest('hex')}`;
}
