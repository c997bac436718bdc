import * as z from 'zod';
import { outcomeKinds } from '../../domain/outcome.ts';
import { balances } from '../../domain/reading.ts';
import { severities } from '../../domain/severity.ts';

/**
 * What the API takes and gives. These schemas check input, give the types of output, and make the OpenAPI document:
 * there is no second description to keep true.
 */
export const registry = z.registry<{ id: string; description?: string }>();

const instant = z.iso.datetime().describe('ISO 8601, UTC');
const givenInstant = z.iso.datetime({ offset: true }).describe('ISO 8601 with Z or an offset');
const money = z.string().describe('A decimal string without trailing zeros');
const severity = z.enum(severities);
const balance = z.enum(balances);
const outcome = z.enum(outcomeKinds);
const text = z.string().max(500);

const quantity = z
  .union([z.string(), z.number()])
  .describe('Money as a decimal string, a duration in seconds, or text');

export const accountSchema = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    labels: z.record(z.string(), z.string()),
    currency: z.string().nullable(),
    outcome: outcome.nullable().describe('How the last poll ended'),
    failure: z.string().nullable().describe('Why the last poll failed'),
    polledAt: instant.nullable(),
    readAt: instant.nullable().describe('When the balances were last read'),
    balances: z.strictObject({ sms: money.nullable(), voip: money.nullable() }),
    burnPerDay: z.strictObject({ sms: money.nullable(), voip: money.nullable() }),
    runwaySeconds: z.strictObject({ sms: z.number().nullable(), voip: z.number().nullable() }),
    consecutiveFailures: z.int(),
    backoffUntil: instant.nullable(),
    usageHeaders: z.record(z.string(), z.string()),
    severity: severity.nullable().describe('The worst that fires now'),
    firing: z.int(),
    pending: z.int(),
  })
  .register(registry, { id: 'Account' });

export const pointSchema = z
  .strictObject({ at: instant, sms: money, voip: money, currency: z.string() })
  .register(registry, { id: 'Point' });

export const alertSchema = z
  .strictObject({
    account: z.string(),
    rule: z.string(),
    type: z.string(),
    balance: balance.nullable(),
    severity,
    state: z.enum(['pending', 'firing', 'resolved']),
    since: instant,
    resolvedAt: instant.nullable(),
    value: quantity.nullable(),
    threshold: quantity.nullable(),
    summary: z.string(),
    acknowledged: z.strictObject({ at: instant, by: z.string(), comment: z.string() }).nullable(),
    silenced: z.boolean(),
    inhibited: z.boolean(),
    flapping: z.boolean(),
    incident: z.string().nullable(),
  })
  .register(registry, { id: 'Alert' });

const factSchema = z
  .strictObject({
    name: z.string(),
    value: quantity.describe('As a quantity; an instant as ISO 8601, a count as a number'),
  })
  .register(registry, { id: 'Fact' });

export const explanationSchema = z
  .strictObject({
    rule: z.string(),
    type: z.string(),
    verdict: z.enum(['ok', 'breached', 'unknown', 'event']),
    severity: severity.nullable(),
    why: z.string().nullable().describe('Why there is no verdict'),
    value: quantity.nullable(),
    threshold: quantity.nullable(),
    facts: z.array(factSchema),
    wouldNotFire: z.string().nullable(),
    alert: alertSchema.nullable(),
  })
  .register(registry, { id: 'Explanation' });

export const incidentSchema = z
  .strictObject({
    id: z.string(),
    account: z.string(),
    accountName: z.string(),
    rule: z.string(),
    type: z.string(),
    balance: balance.nullable(),
    severity,
    worstSeverity: severity,
    firedAt: instant,
    resolvedAt: instant.nullable(),
    resolution: z
      .enum(['recovered', 'topped-up', 'rule-removed', 'account-removed', 'channel-removed'])
      .nullable(),
    event: z.boolean(),
    value: quantity.nullable(),
    threshold: quantity.nullable(),
    acknowledged: z.strictObject({ at: instant, by: z.string(), comment: z.string() }).nullable(),
  })
  .register(registry, { id: 'Incident' });

export const notificationSchema = z
  .strictObject({
    id: z.string(),
    channel: z.string(),
    kind: z
      .string()
      .nullable()
      .describe(
        'What the message says last: firing, worse, reminder, escalated, resolved, flapping, event, report',
      ),
    state: z.enum(['pending', 'delivered', 'dead']),
    attempts: z.int(),
    createdAt: instant,
    deliveredAt: instant.nullable(),
    lastError: z.string().nullable(),
    alerts: z.array(z.strictObject({ account: z.string(), rule: z.string(), kind: z.string() })),
  })
  .register(registry, { id: 'Notification' });

export const channelSchema = z
  .strictObject({
    name: z.string(),
    type: z.string(),
    pending: z.int(),
    lastDeliveredAt: instant.nullable(),
    lastError: z.string().nullable(),
  })
  .register(registry, { id: 'Channel' });

export const pollSchema = z
  .strictObject({
    at: instant,
    outcome,
    sms: money.nullable(),
    voip: money.nullable(),
    currency: z.string().nullable(),
  })
  .register(registry, { id: 'Poll' });

const oneOrMore = z.union([z.string().min(1).max(200), z.array(z.string().min(1).max(200)).min(1).max(100)]);
const oneOrMoreSeverities = z.union([severity, z.array(severity).min(1)], {
  error: `give ${severities.join(', ')}, or a list of these`,
});

export const matchSchema = z
  .strictObject({
    account: oneOrMore.optional(),
    rule: oneOrMore.optional(),
    severity: oneOrMoreSeverities.optional(),
    labels: z.record(z.string(), oneOrMore).optional(),
  })
  .describe('All given keys must match; an empty object matches every alert.')
  .register(registry, { id: 'Match' });

export const silenceSchema = z
  .strictObject({
    id: z.string().nullable().describe('Null for windows that come from the configuration'),
    match: z.strictObject({
      account: z.array(z.string()).readonly().optional(),
      rule: z.array(z.string()).readonly().optional(),
      severity: z.array(severity).readonly().optional(),
      labels: z.record(z.string(), z.array(z.string()).readonly()).optional(),
    }),
    startsAt: instant,
    endsAt: instant,
    by: z.string(),
    comment: z.string(),
    active: z.boolean(),
  })
  .register(registry, { id: 'Silence' });

export const acknowledgeOrderSchema = z
  .strictObject({ by: text.optional(), comment: text.optional() })
  .register(registry, { id: 'AcknowledgeOrder' });

export const expireOrderSchema = z
  .strictObject({ id: z.string().min(1).max(200) })
  .register(registry, { id: 'ExpireOrder' });

export const silenceOrderSchema = z
  .strictObject({
    match: matchSchema,
    for: z.string().max(40).optional().describe('How long from the start, such as "2h"; or give endsAt'),
    startsAt: givenInstant.optional().describe('Default: now'),
    endsAt: givenInstant.optional(),
    by: text.optional(),
    comment: text.optional(),
  })
  .register(registry, { id: 'SilenceOrder' });

export const errorSchema = z
  .strictObject({ error: z.strictObject({ code: z.string(), message: z.string() }) })
  .register(registry, { id: 'Error' });

export const chartSchema = z
  .strictObject({
    account: z.string(),
    balance,
    currency: z.string().nullable(),
    since: z.number().describe('Milliseconds since 1970, as all instants here'),
    until: z.number(),
    now: z.number(),
    points: z
      .array(z.tuple([z.number(), z.number().nullable()]))
      .describe('Instant and amount; null where polls failed'),
    thresholds: z.array(z.strictObject({ severity, value: z.number() })),
    topUps: z.array(z.strictObject({ at: z.number(), amount: z.number(), value: z.number() })),
    incidents: z.array(z.strictObject({ from: z.number(), to: z.number(), severity, rule: z.string() })),
    projection: z.array(z.tuple([z.number(), z.number()])),
  })
  .describe(
    'What the chart on the page draws. Amounts are rounded to doubles here; history has them exactly.',
  )
  .register(registry, { id: 'Chart' });

export type ChartJson = z.infer<typeof chartSchema>;
