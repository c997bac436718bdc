import type { Message } from '../domain/message.ts';
import type { Delivery } from '../ports/channel.ts';

/** A part that a receiver takes by itself: one of several events, or the line that mentions people. */
export interface MessagePart {
  /** Stays the same from try to try. People read it if the part is refused. */
  readonly name: string;
  /** The part without which this one means something else: this one is sent only after that one was. */
  readonly after?: string;
}

interface SentPart<Kind = Delivery['kind']> extends MessagePart {
  readonly delivery: Extract<Delivery, { readonly kind: Kind }>;
}

/** After this many failures in a row the rest waits: the receiver is in trouble, not the parts. */
const maxFailuresInARow = 3;

/**
 * Sends the parts of a message one after the other, and each ends by itself: a taken part is not sent again, a refused part is named, and a
 * part that failed for now is owed. Parts that were not tried go first the next time.
 *
 * `recipients` names the parts that are still owed; without it all are sent, except those of `except`. A receiver that asks to wait gets
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

/** The outcome of a message, from the outcomes of its parts. */
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
  // Nothing was taken: as long as something may be taken later, everything is tried again except what was refused for good.
  if (taken === undefined && retry !== undefined) {
    const isUnknown = later.some(({ delivery }) => delivery.certainty === 'unknown');
    const certainty = isUnknown ? 'unknown' : 'refused';
    const never = dead && { recipients: namesOf(refused), others: owed, refusal: dead.reason };
    return { ...retry, certainty, ...wait, ...(never && { refused: never }) };
  }
  if (taken === undefined && dead !== undefined) return { kind: 'dead', reason: dead.reason };
  return {
    // If nothing failed and nothing was taken, none of those who were owed the message is left.
    ...(taken ?? { kind: 'delivered' }),
    ...(dead && { refusedRecipients: namesOf(refused), refusal: dead.reason }),
    ...(retry && { owed: { recipients: owed, reason: retry.reason, ...wait } }),
  };
}

/** Renders a message. One that breaks its renderer is given up: a retry would break as well. Other channels have other renderers. */
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
