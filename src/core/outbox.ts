/** Why a channel is told something (the named reasons of a notification decision). */
export type NoticeKind = 'firing' | 'worse' | 'reminder' | 'escalated' | 'resolved' | 'flapping' | 'event';

/** One thing that a message has to say about one incident. */
export interface NoticeItem {
  readonly incident: string;
  readonly account: string;
  readonly rule: string;
  readonly kind: NoticeKind;
  readonly at: number;
}

/**
 * A message on its way to one channel. Stored in the transaction that changed the alerts it speaks of, rendered when
 * it is sent. Ends as `delivered` or `dead`; a message whose content grew after an attempt of unknown outcome goes out
 * under a new id, so that a receiver that drops repeated ids loses nothing.
 */
export interface OutboxMessage {
  readonly id: string;
  readonly channel: string;
  readonly state: 'pending' | 'delivered' | 'dead';
  readonly items: readonly NoticeItem[];
  /** A message that is not about incidents: a report's id. */
  readonly report: string | null;
  readonly createdAt: number;
  /** Not before this instant: the end of the group wait, or of the pause before a retry. */
  readonly dueAt: number;
  readonly attempts: number;
  /** An attempt may have arrived although no answer said so; also true while an attempt is under way. */
  readonly uncertain: boolean;
  readonly deliveredAt: number | null;
  readonly lastError: string | null;
}
