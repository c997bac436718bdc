import { createHash } from 'node:crypto';
import { isAcknowledged, lastKeyOf, oneKey } from '../domain/alert.ts';
import { type MessageItem, stateOf } from '../domain/message.ts';
import { cleanText } from '../domain/plain-text.ts';

export interface KeyOrder {
  readonly item: MessageItem;
  readonly action: 'open' | 'acknowledge' | 'close';
  readonly key: string;
  /** The name of the alert for people, with a number from its second key on. */
  readonly name: string;
}

/** The longest name in a plain field of a tool, in characters: one tool refuses more than 255, another more than 512. */
const maxSourceLength = 200;

/** The subject of an alert, as a plain field of a tool: never empty. */
export function sourceOf({ accountName, incident }: MessageItem): string {
  return cleanText(accountName, maxSourceLength) || incident.account;
}

/**
 * The orders for the alerts of a message, one for each key. A late message may hold an incident that ended and the next incident of the same
 * alert: the end of the first must not close the second.
 *
 * An open alert that got worse has another key than before, because an alert that a tool has already, or that somebody took there, wakes
 * nobody again. `raises`: the tool takes a new urgency under the same key, and needs another key only if somebody had taken the first.
 */
export function keyOrders(
  items: readonly MessageItem[],
  { maxLength, raises }: { readonly maxLength: number; readonly raises: boolean },
): readonly KeyOrder[] {
  const orders = new Map<string, KeyOrder>();
  for (const item of newestFirst(items)) {
    const action = actionFor(item);
    for (const number of numbersOf(item, action, raises)) {
      const name = number === 0 ? nameOfAlert(item) : `${nameOfAlert(item)} (${number + 1})`;
      const key = keyText(number === 0 ? nameOfAlert(item) : `${nameOfAlert(item)}/${number + 1}`, maxLength);
      if (!orders.has(name)) orders.set(name, { item, action, key, name });
    }
  }
  const all = [...orders.values()];
  return items.flatMap((item) => all.filter((order) => order.item === item));
}

/** Newest incident first. An open incident is the newest of its alert, even if the clock was set back since the others began. */
export function newestFirst(items: readonly MessageItem[]): readonly MessageItem[] {
  const begunAt = ({ firedAt, resolvedAt }: MessageItem): number =>
    resolvedAt === null ? Number.MAX_SAFE_INTEGER : firedAt;
  return items.toSorted((left, right) => begunAt(right) - begunAt(left));
}

/** The action for an alert. The state of the incident decides, not the reason of the message: the message may be late. */
export function actionFor(item: MessageItem): KeyOrder['action'] {
  if (item.resolvedAt !== null || ['resolved', 'closed'].includes(stateOf(item))) return 'close';
  return isAcknowledged(item.incident) ? 'acknowledge' : 'open';
}

/** The numbers of the keys to act on. An alert that is taken or over is so under all of its keys. */
function numbersOf({ keys = oneKey }: MessageItem, action: KeyOrder['action'], raises: boolean) {
  const { first, newest, taken } = keys;
  if (action !== 'open')
    return Array.from({ length: lastKeyOf(keys) - first + 1 }, (_, place) => first + place);
  if (!raises) return [newest];
  return taken === null ? [first] : [...new Set([first, newest])];
}

/** The name of the alert for people. An event without an end, such as a top-up, has a name of its own each time. */
export function nameOfAlert(item: MessageItem): string {
  const { account, rule, id, test } = item.incident;
  // The end of a test must not close an alert that really fires.
  if (test !== undefined) return `test/${account}/${rule}`;
  return stateOf(item) === 'event' ? `${account}/${rule} ${id}` : `${account}/${rule}`;
}

/** A key that never changes: when the alert fires again after its end, an incident tool opens a new incident by itself. */
function keyText(name: string, maxLength: number): string {
  const key = `lowwater/${name}`;
  return key.length <= maxLength ? key : `lowwater/${createHash('sha256').update(key).digest('hex')}`;
}
