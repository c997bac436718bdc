import type { Delivery } from '../ports/channel.ts';

/** What a receiver takes by itself: an event of several, or the line that mentions people. */
export interface MessagePart {
  /** Stays the same from try to try. People read it where the part is refused. */
  readonly name: string;
}

type Failure = Exclude<Delivery, { readonly kind: 'delivered' }>;
type Retry = Extract<Delivery, { readonly kind: 'retry' }>;

/** What fails this often in a row waits: the receiver is in trouble, not the part. */
const maxFailuresInARow = 3;

/**
 * Sends the parts of a message one after the other, and each ends by itself: what was taken is not sent again, what was refused
 * is named, and what failed for now is owed.
 *
 * `recipients` names the parts that are still owed; without it all are sent. A receiver that asks to wait gets nothing more.
 */
export async function deliverParts<Part extends MessagePart>(
  order: {
    readonly parts: readonly Part[];
    readonly recipients: readonly string[] | undefined;
    readonly maxFailures?: number;
  },
  send: (part: Part) => Promise<Delivery>,
): Promise<Delivery> {
  const { parts, recipients, maxFailures = maxFailuresInARow } = order;
  const wanted = recipients?.flatMap((name) => parts.find((part) => part.name === name) ?? []) ?? parts;
  const failed: { readonly name: string; readonly failure: Failure }[] = [];
  let last: Extract<Delivery, { readonly kind: 'delivered' }> | null = null;
  let failuresInARow = 0;
  let sent = 0;
  for (const part of wanted) {
    const delivery = await send(part);
    sent += 1;
    if (delivery.kind === 'delivered') last = delivery;
    else failed.push({ name: part.name, failure: delivery });
    failuresInARow = delivery.kind === 'retry' ? failuresInARow + 1 : 0;
    const mustWait = delivery.kind === 'retry' && delivery.afterMs !== undefined;
    if (mustWait || failuresInARow >= maxFailures) break;
  }
  const untried = wanted.slice(sent).map(({ name }) => name);
  if (last === null) return joinFailures(failed.map(({ failure }) => failure));
  return { ...last, ...remainder(failed, untried) };
}

/** What is left of a message of which something was taken. What was not tried goes first the next time. */
function remainder(
  failed: readonly { readonly name: string; readonly failure: Failure }[],
  untried: readonly string[],
): Pick<Extract<Delivery, { kind: 'delivered' }>, 'refusedRecipients' | 'refusal' | 'owed'> {
  const refused = failed.filter(({ failure }) => failure.kind === 'dead');
  const later = failed.flatMap(({ name, failure }) => (failure.kind === 'retry' ? [{ name, failure }] : []));
  const [firstRefused] = refused;
  const [firstLater] = later;
  const afterMs = longestWait(later.map(({ failure }) => failure));
  return {
    ...(firstRefused === undefined
      ? {}
      : { refusedRecipients: refused.map(({ name }) => name), refusal: firstRefused.failure.reason }),
    ...(firstLater === undefined
      ? {}
      : {
          owed: {
            recipients: [...untried, ...later.map(({ name }) => name)],
            reason: firstLater.failure.reason,
            ...(afterMs === null ? {} : { afterMs }),
          },
        }),
  };
}

/** Nothing was taken. As long as something may be taken later the message as a whole is tried again. */
function joinFailures(failures: readonly Failure[]): Delivery {
  const retries = failures.filter((failure) => failure.kind === 'retry');
  const [retry] = retries;
  // Nobody is left of those who were owed the message.
  if (failures.length === 0) return { kind: 'delivered' };
  if (retry === undefined) return failures[0] ?? { kind: 'delivered' };
  const afterMs = longestWait(retries);
  const certainty = retries.some((each) => each.certainty === 'unknown') ? 'unknown' : 'refused';
  return { ...retry, certainty, ...(afterMs === null ? {} : { afterMs }) };
}

function longestWait(retries: readonly Retry[]): number | null {
  const waits = retries.flatMap(({ afterMs }) => afterMs ?? []);
  return waits.length === 0 ? null : Math.max(...waits);
}

/**
 * Renders a message, or says that it cannot be: a message that breaks its renderer would break it again on
 * every retry, so it is given up and the other channels, whose messages look different, are notified.
 */
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
