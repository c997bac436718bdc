import type { Message } from '../domain/message.ts';
import type { Delivery } from '../ports/channel.ts';

/** A part that a receiver takes by itself: an event of several, or the line that mentions people. */
export interface MessagePart {
  /** Stays the same from try to try. People read it where the part is refused. */
  readonly name: string;
  /** The part without which this one means something else: it is sent only after that was. */
  readonly after?: string;
}

interface SentPart<Kind = Delivery['kind']> extends MessagePart {
  readonly delivery: Extract<Delivery, { readonly kind: Kind }>;
}

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
  const named =
    recipients?.flatMap((name) => parts.find((part) => part.name === name) ?? []) ??
    parts.filter(({ name }) => !except.includes(name));
  const sent: SentPart[] = [];
  let untried: readonly Part[] = named;
  let failuresInARow = 0;
  for (;;) {
    const part = untried.find(({ after }) => !named.some(({ name }) => name === after && !isOver(name)));
    if (part === undefined) break;
    untried = untried.filter((other) => other !== part);
    const delivery = await send(part);
    sent.push({ name: part.name, delivery });
    failuresInARow = delivery.kind === 'retry' ? failuresInARow + 1 : 0;
    const mustWait = delivery.kind === 'retry' && delivery.afterMs !== undefined;
    if (mustWait || failuresInARow >= maxFailures) break;
  }
  return sumUp(sent, untried);

  function isOver(name: string): boolean {
    return sent.some((part) => part.name === name && part.delivery.kind !== 'retry');
  }
}

/** The end of a message whose parts ended so. */
function sumUp(sent: readonly SentPart[], untried: readonly MessagePart[]): Delivery {
  const endedAs = <Kind extends Delivery['kind']>(kind: Kind) =>
    sent.filter((part): part is SentPart & SentPart<Kind> => part.delivery.kind === kind);
  const namesOf = (parts: readonly MessagePart[]): string[] => parts.map(({ name }) => name);
  const [refused, later] = [endedAs('dead'), endedAs('retry')];
  const taken = endedAs('delivered').at(-1)?.delivery;
  const dead = refused[0]?.delivery;
  const retry = later[0]?.delivery;
  const waits = later.flatMap(({ delivery }) => delivery.afterMs ?? []);
  const isForAll = later.some(({ delivery }) => delivery.isForAll === true);
  const wait = waits.length === 0 ? {} : { afterMs: Math.max(...waits), ...(isForAll && { isForAll }) };
  const owed = namesOf([...untried, ...later]);
  // Nothing was taken: as long as something may be taken later all but what was refused for good is tried again.
  if (taken === undefined && retry !== undefined) {
    const isUnknown = later.some(({ delivery }) => delivery.certainty === 'unknown');
    const certainty = isUnknown ? 'unknown' : 'refused';
    const never = dead && { recipients: namesOf(refused), others: owed, refusal: dead.reason };
    return { ...retry, certainty, ...wait, ...(never && { refused: never }) };
  }
  if (taken === undefined && dead !== undefined) return { kind: 'dead', reason: dead.reason };
  return {
    // Nobody is left of those who were owed the message where nothing failed and nothing was taken.
    ...(taken ?? { kind: 'delivered' }),
    ...(dead && { refusedRecipients: namesOf(refused), refusal: dead.reason }),
    ...(retry && { owed: { recipients: owed, reason: retry.reason, ...wait } }),
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
    const reason = `lowwater could not render the message (${name}); this is a defect of lowwater`;
    return { failed: { kind: 'dead', reason } };
  }
}
