import * as z from 'zod';
import { parseDuration } from '../../domain/duration.ts';
import type { SilenceOrder } from '../../domain/operator.ts';
import type { Matcher } from '../../domain/rule.ts';
import { type Severity, severities } from '../../domain/severity.ts';
import { longestSilenceMs } from '../../engine/operate.ts';
import { labelRecord } from '../../schema/matchers.ts';
import { severitySchema } from '../../views/public-json.ts';
import { RequestError } from '../refusal.ts';

/** What the API and the forms of the page are told to do. */
const text = z.string().max(500);
const name = z.string().min(1).max(200);
const givenInstant = z.iso.datetime({ offset: true }).meta({ description: 'ISO 8601 with Z or an offset' });
const oneOrMore = z.union([name, z.array(name).min(1).max(100)]);
const oneOrMoreSeverities = z.union([severitySchema, z.array(severitySchema).min(1)], {
  error: `give ${severities.join(', ')}, or a list of these`,
});

export const matchSchema = z
  .strictObject({
    account: oneOrMore.optional(),
    rule: oneOrMore.optional(),
    severity: oneOrMoreSeverities.optional(),
    labels: labelRecord(oneOrMore).optional(),
  })
  .meta({
    id: 'Match',
    description: 'All given keys must match. An empty object matches every alert: it needs `everything`.',
  });

export const acknowledgeOrderSchema = z
  .strictObject({ by: text.optional(), comment: text.optional() })
  .meta({ id: 'AcknowledgeOrder', examples: [{ by: 'ada', comment: 'finance is topping up' }] });

export const acknowledgeManySchema = z
  .strictObject({
    alerts: z
      .array(z.strictObject({ account: name, rule: name }))
      .min(1)
      .max(1_000),
    by: text.optional(),
    comment: text.optional(),
  })
  .meta({
    id: 'AcknowledgeManyOrder',
    examples: [
      { alerts: [{ account: 'otp', rule: 'sms-low' }], by: 'ada', comment: 'finance is topping up' },
    ],
  });

export const expireOrderSchema = z
  .strictObject({ id: name })
  .meta({ id: 'ExpireOrder', examples: [{ id: 'f81d4fae-7dec-41d0-8765-00a0c91e6bf6' }] });

export const silenceOrderSchema = z
  .strictObject({
    match: matchSchema,
    everything: z.boolean().optional().meta({
      description: 'True where a silence of every alert is meant: `match` is empty then, and never otherwise',
    }),
    for: z.string().max(40).optional().meta({
      description: 'How long from the start, such as "2h"; or give endsAt',
    }),
    startsAt: givenInstant.optional().meta({ description: 'Default: now' }),
    endsAt: givenInstant.optional(),
    by: text.optional(),
    comment: text.optional(),
  })
  .meta({
    id: 'SilenceOrder',
    examples: [{ match: { account: 'otp', severity: ['info', 'warning'] }, for: '2h', comment: 'campaign' }],
  });

/** The silence that a body orders. Refuses windows that end before they begin, are over, or last longer than a year. */
export function readSilenceOrder(input: z.infer<typeof silenceOrderSchema>, now: number): SilenceOrder {
  const startsAt = input.startsAt === undefined ? now : Date.parse(input.startsAt);
  const endsAt = readEnd(input, startsAt);
  if (endsAt <= Math.max(startsAt, now))
    throw new RequestError('bad_request', 'The silence would be over already.');
  if (endsAt - startsAt > longestSilenceMs)
    throw new RequestError('bad_request', 'A silence may last a year at most.');
  return {
    match: toMatcher(input.match),
    ...(input.everything === undefined ? {} : { everything: input.everything }),
    startsAt,
    endsAt,
    by: input.by ?? 'api',
    comment: input.comment ?? '',
  };
}

function readEnd(input: z.infer<typeof silenceOrderSchema>, startsAt: number): number {
  if ((input.for === undefined) === (input.endsAt === undefined)) {
    throw new RequestError('bad_request', 'Give either "for" (such as "2h") or "endsAt".');
  }
  if (input.endsAt !== undefined) return Date.parse(input.endsAt);
  const duration = parseDuration(input.for ?? '');
  if (duration === null || duration <= 0)
    throw new RequestError('bad_request', 'for: give a duration such as "90m" or "2h"');
  return startsAt + duration;
}

function toMatcher(match: z.infer<typeof matchSchema>): Matcher {
  return {
    ...(match.account === undefined ? {} : { account: list(match.account) }),
    ...(match.rule === undefined ? {} : { rule: list(match.rule) }),
    ...(match.severity === undefined ? {} : { severity: list<Severity>(match.severity) }),
    ...(match.labels === undefined
      ? {}
      : {
          labels: Object.fromEntries(Object.entries(match.labels).map(([key, value]) => [key, list(value)])),
        }),
  };
}

function list<T extends string>(value: T | readonly T[]): readonly T[] {
  return typeof value === 'string' ? [value] : value;
}
