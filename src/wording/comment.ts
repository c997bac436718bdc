import { type Listener, phrases, say } from './phrase.ts';

const says = phrases('comment', { ordered: 'ordered', orderedSaying: 'ordered, {comment}' });

/** A comment on an acknowledgement. The comment of an order of money is put in the reader's language; what people wrote stays. */
export function sayComment(written: string, reader: Listener): string {
  const [isOrdered, comment] = /^ordered(?:, (.+))?$/s.exec(written) ?? [];
  if (isOrdered === undefined) return written;
  return comment === undefined ? say(says.ordered, reader) : say(says.orderedSaying, { comment }, reader);
}
