import * as z from 'zod';
import type { Message } from '../domain/message.ts';
import { type Severity, severities } from '../domain/severity.ts';
import { shape } from '../schema/shapes.ts';
import { textLeaf } from '../schema/texts.ts';

export type Mention = Readonly<Partial<Record<Severity, readonly string[] | undefined>>>;

/** `mention` of a channel: for each severity the people it mentions, in the words of its receiver. */
export function mentionSchema(options: {
  readonly description: string;
  readonly pattern: RegExp;
  readonly allowed: string;
}) {
  const people = z
    .array(
      textLeaf({
        description: 'Who.',
        allowed: options.allowed,
        pattern: options.pattern.source,
        read: (text) => (options.pattern.test(text) ? { value: text } : null),
      }),
      { error: 'must be a list' },
    )
    .describe('Who is mentioned by an alert of this severity.')
    .optional();
  return shape({ critical: people, warning: people, info: people }).describe(options.description);
}

/** The people whom a message mentions, by the severities and routes of its alerts. Each once, the most urgent first. */
export function mentionsIn(message: Message, mention: Mention): readonly string[] {
  if (message.kind !== 'incidents') return [];
  const notified = new Set(message.items.filter((item) => item.mention).map(({ severity }) => severity));
  return [
    ...new Set(
      severities
        .toReversed()
        .flatMap((severity) => (notified.has(severity) ? (mention[severity] ?? []) : [])),
    ),
  ];
}
