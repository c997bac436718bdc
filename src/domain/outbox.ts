import { dayMs, minuteMs } from './duration.ts';
/** Why a channel is told something (the named reasons of a notification decision). */
export type NotificationReason =
  | 'firing'
  | 'worse'
  | 'reminder'
  | 'escalated'
  | 'acknowledged'
  | 'resolved'
  | 'flapping'
  | 'event';

/** One thing that a message has to say about one incident. */
export interface NotificationItem {
  readonly incident: string;
  readonly account: string;
  readonly rule: string;
  readonly kind: NotificationReason;
  readonly at: number;
}

/**
 * A message on its way to one channel. Stored in the transaction that changed the alerts it speaks of,
 * rendered when it is sent. Ends as `delivered` or `dead`.
 */
export interface Notification {
  readonly id: string;
  /**
   * Zero until the content grew after an attempt that may have arrived, then a number made of the content. Receivers
   * then see another id (`wireId`), so that one that drops repeated ids loses nothing.
   */
  readonly revision: number;
  readonly channel: string;
  readonly state: 'pending' | 'delivered' | 'dead';
  readonly items: readonly NotificationItem[];
  /** A message that is not about incidents: which report, and the period it covers. */
  readonly report: { readonly id: string; readonly since: number; readonly until: number } | null;
  readonly createdAt: number;
  /** Not before this instant: the end of the group wait, or of the pause before a retry. */
  readonly dueAt: number;
  /** Tried until then; moved along while lowwater is not running. */
  readonly giveUpAt: number;
  readonly attempts: number;
  /** An attempt may have arrived although no answer said so; also true while an attempt is under way. */
  readonly uncertain: boolean;
  readonly deliveredAt: number | null;
  readonly lastError: string | null;
  /** Recipients who were refused for now while the others got the message: it goes on for these alone. Absent: all. */
  readonly owed?: readonly string[];
}

/** Such a message goes out by itself: nothing joins it, and what follows does not wait for it. */
export function isStandalone({ report, owed }: Notification): boolean {
  return report !== null || owed !== undefined;
}

/** How long a message is tried before it counts as dead. */
const retryForMs = dayMs;
const firstRetryMs = 1000;
const maxRetryMs = 5 * minuteMs;

/** The id that the receiver sees: the same for every retry of the same content. */
export function wireId(message: Notification): string {
  return message.revision === 0 ? message.id : `${message.id}-r${message.revision}`;
}

/**
 * The pause before attempt number `attempts + 1`: from 1 s to 5 min, never less than the receiver asked for.
 */
export function retryDelayMs(attempts: number, askedMs = 0): number {
  return Math.max(Math.min(maxRetryMs, firstRetryMs * 2 ** Math.min(attempts - 1, 20)), askedMs);
}

export function newNotification(content: {
  readonly id: string;
  readonly channel: string;
  readonly items: readonly NotificationItem[];
  readonly report?: Notification['report'];
  readonly now: number;
  readonly dueAt: number;
}): Notification {
  return {
    id: content.id,
    revision: 0,
    channel: content.channel,
    state: 'pending',
    items: content.items,
    report: content.report ?? null,
    createdAt: content.now,
    dueAt: content.dueAt,
    giveUpAt: content.now + retryForMs,
    attempts: 0,
    uncertain: false,
    deliveredAt: null,
    lastError: null,
  };
}

/**
 * Adds to a message that is not under way. A message that has not been tried goes out as early as its most
 * urgent item asks; one that waits for a retry keeps its instant.
 */
export function joinNotification(
  message: Notification,
  items: readonly NotificationItem[],
  dueAt: number,
): Notification {
  const all = [...message.items, ...items];
  return {
    ...message,
    items: all,
    revision: message.uncertain || message.revision !== 0 ? numberOf(all) : 0,
    uncertain: false,
    dueAt: message.attempts === 0 ? Math.min(message.dueAt, dueAt) : message.dueAt,
  };
}

/**
 * A number for a content, 32-bit FNV-1a over its items. Counting would not do: what a process added and sent while
 * the disk failed is unknown to the next one, which adds something else.
 */
function numberOf(items: readonly NotificationItem[]): number {
  const text = items.map(({ incident, kind, at }) => `${incident} ${kind} ${at}`).join('\n');
  let hash = 0x811c9dc5;
  for (let place = 0; place < text.length; place++) {
    hash = Math.imul(hash ^ text.charCodeAt(place), 0x01000193);
  }
  return hash >>> 0 || 1;
}

/** What a message has to say about each incident: its kinds oldest first, each once. */
export function kindsByIncident(items: readonly NotificationItem[]): Map<string, NotificationReason[]> {
  const byIncident = new Map<string, NotificationReason[]>();
  for (const item of items) {
    const kinds = byIncident.get(item.incident);
    if (kinds === undefined) byIncident.set(item.incident, [item.kind]);
    else if (!kinds.includes(item.kind)) kinds.push(item.kind);
  }
  return byIncident;
}
