import type { Message } from '../domain/message.ts';
import type { Delivery } from '../ports/channel.ts';

/** A part that a receiver takes by itself: an event of several, or the line that mentions people. */
export interface MessagePart {
  /** Stays the same from try to try. People read it where the part is refused. */
  readonly name: string;
}

type Ended<Kind extends Delivery['kind']> = Extract<Delivery, { readonly kind: Kind }>;

/** A part that fails this often in a row waits: the receiver is in trouble, not the part. */
const maxFailuresInARow = 3;

/**
 * Sends the parts of a message one after the other, and each ends by itself: what was taken is not sent again, what was refused
 * is named, and what failed for now is owed; what was not tried goes first the next time.
 *
 * `recipients` names the parts that are still owed; without it all are sent but those of `except`. A receiver that asks to wait gets
 * nothing more.
 */
export async function deliverParts<Part extends MessagePart>(
  parts: readonly Part[],
  { recipients, except = [] }: Pick<Message, 'recipients' | 'except'>,
  send: (part: Part) => Promise<Delivery>,
  maxFailures = maxFailuresInARow,
): Promise<Delivery> {
  const wanted =
    recipients?.flatMap((name) => parts.find((part) => part.name === name) ?? []) ??
    parts.filter(({ name }) => !except.includes(name));
  const refused: (Ended<'dead'> & MessagePart)[] = [];
  const later: (Ended<'retry'> & MessagePart)[] = [];
  let taken: Ended<'delivered'> | null = null;
  let failuresInARow = 0;
  let sent = 0;
  for (const part of wanted) {
    const delivery = await send(part);
    sent += 1;
    if (delivery.kind === 'delivered') taken = delivery;
    else if (delivery.kind === 'dead') refused.push({ ...delivery, name: part.name });
    else later.push({ ...delivery, name: part.name });
    failuresInARow = delivery.kind === 'retry' ? failuresInARow + 1 : 0;
    const mustWait = delivery.kind === 'retry' && delivery.afterMs !== undefined;
    if (mustWait || failuresInARow >= maxFailures) break;
  }
  const waits = later.flatMap(({ afterMs }) => afterMs ?? []);
  const wait = waits.length === 0 ? {} : { afterMs: Math.max(...waits) };
  const [dead] = refused;
  const [retry] = later;
  // Nothing was taken: as long as something may be taken later the message as a whole is tried again.
  if (taken === null && retry !== undefined) {
    const { name: _, ...failure } = retry;
    const unknown = later.find(({ certainty }) => certainty === 'unknown');
    return { ...failure, certainty: unknown?.certainty ?? 'refused', ...wait };
  }
  if (taken === null && dead !== undefined) return { kind: 'dead', reason: dead.reason };
  const namesOf = (some: readonly MessagePart[]): string[] => some.map(({ name }) => name);
  const owed = namesOf([...wanted.slice(sent), ...later]);
  return {
    // Nobody is left of those who were owed the message where nothing failed and nothing was taken.
    ...(taken ?? { kind: 'delivered' }),
    ...(dead === undefined ? {} : { refusedRecipients: namesOf(refused), refusal: dead.reason }),
    ...(retry === undefined ? {} : { owed: { recipients: owed, reason: retry.reason, ...wait } }),
  };
}

/** A message that breaks its renderer is given up: a retry would break as well; other channels look different. */
export function tryRender<Rendered>(
  render: () => Rendered,
): { readonly rendered: Rendered } | { readonly failed: Delivery } {
  try {
    return { rendered: render() };
  } catch (error) {
    const name = error instanceof Error ? error.name : 'unknown error';
    return {
      failed: {
        kind: 'dead',
        reason: `lowwater could not render the message (${name}); this is a defect of lowwater`,
      },
    };
  }
}
