import type { Notification } from '../../../src/domain/outbox.ts';
import type { Delivery } from '../../../src/ports/channel.ts';
import type { Send } from '../observer.ts';
import { Violation } from '../story.ts';
import { DurableMap } from './durable-map.ts';

/** The recipients who were refused a message for now, while others received it; by message. */
export class Owed extends DurableMap<readonly string[]> {
  /** A message was delivered, to all or to some. Returns how long the others must be left alone. */
  delivered(id: string, { owed }: Extract<Delivery, { kind: 'delivered' }>): number | null {
    if (owed === undefined) this.delete(id);
    else this.set(id, owed.recipients);
    return owed === undefined ? null : Math.max(1000, owed.afterMs ?? 0);
  }

  /** A message that some received goes only to those who did not, unless it was merged with one that nobody received. */
  expectOnlyOwed(row: Notification, { message }: Send): void {
    const owed = this.get(row.id);
    const isForAll = row.owed === undefined && row.deliveredAt === null;
    if (owed === undefined || isForAll || String(message.recipients) === String(owed)) return;
    throw new Violation(
      'who has a message does not get it again',
      `${row.id} is owed to ${owed}, and went to ${message.recipients ?? 'all'}`,
    );
  }
}
