import type { LastNotified } from './alert.ts';
import { getOrMake } from './get-or-make.ts';
import { dayMs, minuteMs } from './time.ts';

export type NotificationReason =
  | 'firing'
  | 'worse'
  | 'reminder'
  | 'escalated'
  | 'acknowledged'
  | 'resolved'
  | 'flapping'
  | 'event';

export interface NotificationItem {
  readonly incident: string;
  readonly account: string;
  readonly rule: string;
  readonly kind: NotificationReason;
  readonly at: number;
  /** The channel's knowledge before this item, in case nobody reads the item. Absent: nothing, or an item from before 0.4.0. */
  readonly before?: Pick<LastNotified, 'severity' | 'rises' | 'acknowledgedAt'>;
}

/** An entry of the outbox: stored in the transaction that changed its alerts, rendered when it is sent. */
export interface Notification {
  readonly id: string;
  /**
   * Zero until the content grew after an attempt that may have arrived, then a number made of the content. It
   * gives the message another `wireId`, so that a receiver that drops repeated ids loses nothing.
   */
  readonly revision: number;
  readonly channel: string;
  readonly state: 'pending' | 'delivered' | 'dead';
  readonly items: readonly NotificationItem[];
  /** The id and period of a report. Null for incidents. */
  readonly report: { readonly id: string; readonly since: number; readonly until: number } | null;
  readonly createdAt: number;
  /** Not before this instant: the end of the group wait, or of the pause before a retry. */
  readonly dueAt: number;
  /** The instant until which it is tried; moved along while lowwater is not running. */
  readonly giveUpAt: number;
  readonly attempts: number;
  /** Whether an attempt may have arrived although nothing confirmed it; also true during an attempt. */
  readonly uncertain: boolean;
  /** When the first recipients took it, also if others are still owed it. */
  readonly deliveredAt: number | null;
  readonly lastError: string | null;
  /** Retried for these recipients alone: the others have the message, or refused it for good. Absent: all. */
  readonly owed?: readonly string[];
  /** Not for these recipients: they are owed another notification about the same alerts, and hear of this with it. Nothing joins it any more. */
  readonly except?: readonly string[];
}

/** Whether it is sent by itself: nothing joins it, and later messages do not wait for it. */
export function isStandalone({ report, owed }: Notification): boolean {
  return report !== null || owed !== undefined;
}

/** Whether an attempt may have arrived, or some recipients have it. */
export function mayHaveArrived({ uncertain, revision, deliveredAt }: Notification): boolean {
  return uncertain || revision !== 0 || deliveredAt !== null;
}

export const retryForMs = dayMs;
const firstRetryMs = 1000;
const maxRetryMs = 5 * minuteMs;

/** The id that the receiver sees, the same for every retry of the same content. */
export function wireId(message: Pick<Notification, 'id' | 'revision'>): string {
  return message.revision === 0 ? message.id : `${message.id}-r${message.revision}`;
}

/** The wait before attempt number `attempts + 1`: from 1 s to 5 min, never less than the receiver asked for. */
export function retryDelayMs(attempts: number, askedMs = 0): number {
  return Math.max(Math.min(maxRetryMs, firstRetryMs * 2 ** Math.min(attempts - 1, 20)), askedMs);
}

export function newNotification(
  given: Pick<Notification, 'id' | 'channel' | 'items' | 'dueAt'> &
    Partial<Pick<Notification, 'report'>> & { readonly now: number },
): Notification {
  const { id, channel, items, report = null, now, dueAt } = given;
  return {
    id,
    revision: 0,
    channel,
    state: 'pending',
    items,
    report,
    createdAt: now,
    dueAt,
    giveUpAt: now + retryForMs,
    attempts: 0,
    uncertain: false,
    deliveredAt: null,
    lastError: null,
  };
}

/** The time that it has waited. Unlike its creation, `giveUpAt` moves with the clock and with time without a daemon. */
export function waitedMs({ giveUpAt }: Notification, now: number): number {
  return now - (giveUpAt - retryForMs);
}

/** Adds items. A notification that was not tried yet is sent as early as its most urgent item asks; one that waits for a retry keeps its instant. */
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

/** 32-bit FNV-1a of the items. A counter would repeat: the next process does not know what this one sent while the disk failed. */
function numberOf(items: readonly NotificationItem[]): number {
  const text = items.map(({ incident, kind, at }) => `${incident} ${kind} ${at}`).join('\n');
  let hash = 0x811c9dc5;
  for (let place = 0; place < text.length; place++)
    hash = Math.imul(hash ^ text.charCodeAt(place), 0x01000193);
  return hash >>> 0 || 1;
}

export function incidentsOf(messages: readonly Pick<Notification, 'items'>[]): Set<string> {
  return new Set(messages.flatMap(({ items }) => items.map(({ incident }) => incident)));
}

/** The reasons for each incident, oldest first, each once. */
export function kindsByIncident(items: readonly NotificationItem[]): Map<string, NotificationReason[]> {
  const byIncident = new Map<string, NotificationReason[]>();
  for (const item of items) {
    const kinds = getOrMake(byIncident, item.incident, (): NotificationReason[] => []);
    if (!kinds.includes(item.kind)) kinds.push(item.kind);
  }
  return byIncident;
}
