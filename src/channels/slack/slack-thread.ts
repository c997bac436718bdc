import { isAcknowledged } from '../../domain/incident.ts';
import type { IncidentMessage, Message, MessageItem } from '../../domain/message.ts';

/** A message that Slack holds. `ts` is its name, no number. */
export interface SlackPlace {
  readonly channel: string;
  readonly ts: string;
}

/** A first message of incidents, and what it says as things are now. */
export interface FirstMessage {
  readonly place: SlackPlace;
  readonly content: IncidentMessage;
}

/** How a place is kept with what the channel was told; `posted` is what the configuration calls the channel. */
export function writeReceipt(posted: string, { channel, ts }: SlackPlace): string {
  return `${posted} ${channel} ${ts}`;
}

/** Null for a receipt of another channel: what this one is told of the incident begins here. */
function readReceipt(receipt: string | null, posted: string): SlackPlace | null {
  const [wanted, channel, ts] = receipt?.split(' ') ?? [];
  return wanted === posted && channel !== undefined && ts !== undefined ? { channel, ts } : null;
}

/** The thread that a message goes into: where every one of its incidents was first told. */
export function threadOf(message: Message, posted: string): SlackPlace | null {
  if (message.kind !== 'incidents') return null;
  const [first = null, ...others] = new Set(message.items.map(({ receipt }) => receipt));
  return others.length > 0 ? null : readReceipt(first, posted);
}

/** The first messages of a message's incidents, each with all that hangs on it. */
export function firstMessagesOf(message: Message, posted: string): readonly FirstMessage[] {
  if (message.kind !== 'incidents') return [];
  const notified = [...message.items, ...message.companions];
  return [...new Set(message.items.map(({ receipt }) => receipt))].flatMap((receipt) => {
    const place = readReceipt(receipt, posted);
    if (place === null) return [];
    const items = notified.filter((item) => item.receipt === receipt).map(asItStands);
    return [{ place, content: { ...message, items, companions: [] } }];
  });
}

/** Nobody is asked to do anything by it: it is over, or somebody has it. */
export function isSettled(message: Message): boolean {
  return (
    message.kind === 'incidents' &&
    message.items.every(({ incident }) => incident.resolvedAt !== null || isAcknowledged(incident))
  );
}

function asItStands(item: MessageItem): MessageItem {
  const { incident } = item;
  if (incident.resolvedAt !== null) return { ...item, kinds: ['firing', 'resolved'] };
  return { ...item, kinds: [isAcknowledged(incident) ? 'acknowledged' : 'firing'] };
}
