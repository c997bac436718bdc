import * as z from 'zod';
import { currencyPattern, parseMicros } from '../../domain/money.ts';
import { maxSaidLength, type SeenAlert } from '../../domain/operator.ts';
import type { Matcher } from '../../domain/rule.ts';
import { severities } from '../../domain/severity.ts';
import { parseDuration } from '../../domain/time.ts';
import type { Wanted } from '../../engine/orders.ts';
import { labelRecord } from '../../schema/matchers.ts';
import { flag, shape } from '../../schema/shapes.ts';
import { RequestError, refusals } from '../refusal.ts';

const someDuration = refusals.duration();
const text = words(`give a text of at most ${maxSaidLength} characters`, { least: 0, most: maxSaidLength });
const name = words('give a text of 1 to 200 characters', { least: 1, most: 200 });
const givenInstant = z.iso
  .datetime({
    offset: true,
    error: 'give a time with seconds and Z or an offset, such as 2026-11-20T12:00:00Z',
  })
  .describe('ISO 8601 with seconds and Z or an offset');
const severity = z.enum(severities, {
  error: `give ${severities.slice(0, -1).join(', ')} or ${severities.at(-1)}`,
});
const someIds = 'give a list of at most 100 ids';
const error = 'give a text, or a list of 1 to 100 texts';
const oneOrMore = z.union([name, z.array(name).min(1, { error }).max(100, { error })], { error });
const oneOrMoreSeverities = z.union([severity, z.array(severity).min(1)], {
  error: `give ${severities.join(', ')}, or a list of these`,
});

const matchSchema = shape({
  account: oneOrMore.optional(),
  rule: oneOrMore.optional(),
  severity: oneOrMoreSeverities.optional(),
  labels: labelRecord(oneOrMore).optional(),
}).meta({
  id: 'Match',
  description: 'All given keys must match. An empty object matches every alert: it needs `everything`.',
});

const seenKeys = {
  incident: name
    .nullable()
    .optional()
    .describe(
      'The incident that was seen, null of a pending alert: refused with 409 where it is another one now',
    ),
  severity: severity
    .optional()
    .describe('The severity that was seen: refused with 409 where it is another one now'),
};
const personKeys = { by: text.optional(), comment: text.optional() };

/** The schema of an operation without a body. */
export const byQuery = { by: text.optional().describe('Who asks for it, for the audit') };

export const personSchema = shape(personKeys);

export const acknowledgeOrderSchema = shape({ ...personKeys, ...seenKeys }).meta({
  id: 'AcknowledgeOrder',
  examples: [{ by: 'ada', comment: 'finance is topping up' }],
});

/** The alert as it was seen; keys that are absent are not compared. */
export function readSeen({ incident, severity }: SeenAlert): { readonly seen?: SeenAlert } {
  return incident === undefined && severity === undefined ? {} : { seen: { incident, severity } };
}

const someAlerts = 'give 1 to 1000 alerts, each as {"account","rule"}';

export const acknowledgeManySchema = shape({
  alerts: z
    .array(shape({ account: name, rule: name, ...seenKeys }), { error: someAlerts })
    .min(1, { error: someAlerts })
    .max(1_000, { error: someAlerts }),
  ...personKeys,
}).meta({
  id: 'AcknowledgeManyOrder',
  examples: [{ alerts: [{ account: 'otp', rule: 'sms-low' }], by: 'ada', comment: 'finance is topping up' }],
});

const someCurrency = 'give a currency or unit of 1 to 16 printed characters';
const someAmount = 'give each amount as a string such as "12.50"';
const amount = z.string({ error: someAmount }).transform((digits, context) => {
  const micros = parseMicros(digits);
  if (micros === null) context.addIssue(someAmount);
  return micros ?? z.NEVER;
});

export const pushedReadingSchema = shape({
  at: givenInstant.describe(
    'When it was read: later than the newest reading. Up to a minute ahead counts as now; what lies further in the future is refused',
  ),
  balances: z
    .record(z.string(), amount, { error: 'give each balance by its id, such as {"balance": "12.50"}' })
    .describe('Every balance of the account, by its id'),
  currency: z
    .string({ error: someCurrency })
    // Not as a `regex`: the document would contain it with its flags, and that pattern would match nothing.
    .refine((text) => currencyPattern.test(text), { error: someCurrency })
    .trim()
    .describe('1 to 16 printed characters'),
}).meta({
  id: 'PushedReading',
  examples: [{ at: '2026-11-20T12:00:00Z', balances: { balance: '12.50' }, currency: 'EUR' }],
});

export const expectOrderSchema = shape({
  account: name,
  amount: amount.describe('Above 0, as a string such as "5000"'),
  balance: name.optional().describe('Default: the first balance of the account'),
  arrivesBy: givenInstant
    .optional()
    .describe('Default: after the `leadTime` of the account, which must have one'),
  seen: z
    .array(name, { error: someIds })
    .max(100, { error: someIds })
    .optional()
    .describe(
      'Ids of the top-ups of the balance that are known to be expected: refused with 409 where there is another one, which may be the same payment',
    ),
  ...personKeys,
}).meta({
  id: 'ExpectOrder',
  examples: [{ account: 'otp', amount: '5000', arrivesBy: '2026-11-26T17:00:00Z', comment: 'PO-4711' }],
});

export const expectSpendingSchema = shape({
  account: name,
  amount: amount.describe('Beyond the usual: above 0, as a string such as "40000"'),
  balance: name.optional().describe('Default: the first balance of the account'),
  startsAt: givenInstant,
  endsAt: givenInstant,
  ...personKeys,
}).meta({
  id: 'ExpectSpendingOrder',
  examples: [
    { account: 'otp', amount: '40000', startsAt: '2026-12-01T08:00:00Z', endsAt: '2026-12-01T18:00:00Z' },
  ],
});

export const testAlertSchema = shape({
  account: name,
  rule: name.optional().describe('Default: the first that says that a balance runs out'),
  severity: severity.optional().describe('Default: the worst that the rule reaches'),
  by: text.optional(),
}).meta({ id: 'TestAlertOrder', examples: [{ account: 'otp', severity: 'critical', by: 'ada' }] });

export const expireOrderSchema = shape({ id: name }).meta({
  id: 'ExpireOrder',
  examples: [{ id: 'f81d4fae-7dec-41d0-8765-00a0c91e6bf6' }],
});

export const silenceOrderSchema = shape({
  match: matchSchema.prefault({}),
  everything: flag(
    'True where a silence of every alert is meant: `match` is empty or left out then, and never otherwise',
  ).optional(),
  for: words(someDuration, { least: 0, most: 40 })
    .optional()
    .describe('How long from the start, such as "2h"; or give endsAt'),
  startsAt: givenInstant.optional().describe('Default: now'),
  endsAt: givenInstant.optional(),
  ...personKeys,
  seen: shape({ account: name, rule: name, ...seenKeys })
    .optional()
    .describe('The alert that is silenced, as it was seen'),
}).meta({
  id: 'SilenceOrder',
  examples: [{ match: { account: 'otp', severity: ['info', 'warning'] }, for: '2h', comment: 'campaign' }],
});

function words(error: string, { least, most }: { readonly least: number; readonly most: number }) {
  return z.string({ error }).min(least, { error }).max(most, { error });
}

/** Makes the order for a silence from a request's body. Whether it is allowed is decided when it is executed. */
export function readSilenceOrder(
  input: z.infer<typeof silenceOrderSchema>,
  now: number,
): Omit<Wanted<'silence'>, 'kind'> {
  const startsAt = input.startsAt === undefined ? now : Date.parse(input.startsAt);
  const { everything = false, seen, comment = '' } = input;
  return {
    match: toMatcher(input.match),
    everything,
    ...{ startsAt, endsAt: readEnd(input, startsAt), comment },
    ...(seen === undefined ? {} : { seen }),
  };
}

function readEnd(input: z.infer<typeof silenceOrderSchema>, startsAt: number): number {
  if ((input.for === undefined) === (input.endsAt === undefined))
    throw new RequestError('bad_request', 'Give either "for" (such as "2h") or "endsAt".');
  if (input.endsAt !== undefined) return Date.parse(input.endsAt);
  const duration = parseDuration(input.for ?? '');
  if (duration === null || duration <= 0)
    throw new RequestError('bad_request', refusals.field({ name: 'for', problem: someDuration }));
  return startsAt + duration;
}

function toMatcher({ labels, ...keys }: z.infer<typeof matchSchema>): Matcher {
  const lists = (of: object) =>
    Object.fromEntries(
      Object.entries(of).flatMap(([key, value]) => (value === undefined ? [] : [[key, [value].flat()]])),
    );
  return { ...lists(keys), ...(labels === undefined ? {} : { labels: lists(labels) }) };
}
