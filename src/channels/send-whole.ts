import type { Message } from '../domain/message.ts';
import { retryDelayMs } from '../domain/outbox.ts';
import { minuteMs } from '../domain/time.ts';
import { pauseOrEnd } from '../net/deadline.ts';
import type { Channel, Delivery } from '../ports/channel.ts';
import type { Clock } from '../ports/clock.ts';

type Delivered = Extract<Delivery, { readonly kind: 'delivered' }>;

/** The time for which owed parts are tried: after a command has ended, nobody goes on with them. */
const triedForMs = minuteMs;

/** Sends a message that stands in no outbox: parts that the receiver is still owed are tried again for a minute. */
export async function sendWhole(
  channel: Pick<Channel, 'send'>,
  message: Message,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<Delivery> {
  const until = clock.monotonic() + triedForMs;
  let delivery = await channel.send(message, signal);
  for (let attempts = 1; delivery.kind === 'delivered' && delivery.owed !== undefined; attempts++) {
    const waitMs = retryDelayMs(attempts, delivery.owed.afterMs);
    if (clock.monotonic() + waitMs > until) break;
    await pauseOrEnd(clock, waitMs, signal);
    if (signal.aborted) break;
    const { recipients } = delivery.owed;
    delivery = joined(delivery, recipients, await channel.send({ ...message, recipients }, signal));
  }
  return delivery;
}

/** The outcome of a message after those who were still owed it were tried again. */
function joined(before: Delivered, recipients: readonly string[], next: Delivery): Delivered {
  const { owed: _, ...taken } = before;
  const { refusedRecipients = [] } = before;
  if (next.kind === 'retry') return { ...taken, owed: { ...next, recipients } };
  const refused = next.kind === 'dead' ? recipients : (next.refusedRecipients ?? []);
  const refusal = next.kind === 'dead' ? next.reason : next.refusal;
  return {
    ...taken,
    ...(refused.length === 0 ? {} : { refusedRecipients: [...refusedRecipients, ...refused] }),
    ...(refusal === undefined ? {} : { refusal }),
    ...(next.kind === 'dead' || next.owed === undefined ? {} : { owed: next.owed }),
  };
}
