import * as z from 'zod';
import type { Incident } from '../domain/alert.ts';
import type { AuditEntry } from '../domain/operator.ts';
import type { Notification } from '../domain/outbox.ts';
import type { Fact } from '../domain/quantity.ts';
import { mapEach } from '../domain/reading.ts';
import type { Matcher } from '../domain/rule.ts';
import { isoText } from '../domain/time.ts';
import type { StartedTest } from '../ports/orders.ts';
import { forecastJson, forecastOrNull } from './account-json.ts';
import type { ChannelView } from './create-views.ts';
import {
  at,
  balanceSchema,
  instant,
  orNull,
  publicObject,
  quantity,
  quantityJson,
  same,
  severitySchema,
  text,
} from './public-object.ts';
import type { SilenceView } from './silences.ts';
import type { AlertView, Explanation } from './views.ts';

/*
 * The public JSON of what the views show: the HTTP API and the command line's `--json` give the same. Money is a decimal string, an instant
 * an ISO 8601 text in UTC, a duration a number of seconds; null is unknown.
 */

const acknowledgement = z.strictObject({ at: instant, by: text, comment: text });
const list = z.array(text).readonly();

export const alertJson = publicObject<AlertView>()('Alert', {
  account: same(text),
  rule: same(text),
  type: same(text),
  balance: same(balanceSchema.nullable()),
  severity: same(severitySchema),
  state: same(z.enum(['pending', 'firing', 'resolved'])),
  since: [instant, ({ since }) => isoText(since)],
  resolvedAt: at(),
  value: [quantity.nullable(), ({ value }) => value && quantityJson(value)],
  threshold: [quantity.nullable(), ({ threshold }) => threshold && quantityJson(threshold)],
  forecast: [
    z
      .record(z.string(), orNull(forecastJson.schema))
      .describe('Of the account now; null where nothing is predicted, and once resolved'),
    ({ forecast }) => mapEach(forecast, forecastOrNull),
  ],
  summary: same(text),
  acknowledged: [acknowledgement.nullable(), ({ acknowledged }) => acknowledgementJson(acknowledged)],
  silenced: same(z.boolean()),
  inhibited: same(z.boolean()),
  flapping: same(z.boolean()),
  incident: same(text.nullable()),
});

const resolutions = [
  'recovered',
  'topped-up',
  'rule-removed',
  'account-removed',
  'account-moved',
  'channel-removed',
] as const;

export const incidentJson = publicObject<Incident>()('Incident', {
  id: same(text),
  account: same(text),
  accountName: same(text),
  rule: same(text),
  type: same(text),
  balance: same(balanceSchema.nullable()),
  severity: same(severitySchema),
  worstSeverity: same(severitySchema),
  firedAt: [instant, ({ firedAt }) => isoText(firedAt)],
  resolvedAt: at(),
  resolution: [z.enum(resolutions).nullable(), ({ resolution }) => resolution?.kind ?? null],
  event: same(z.boolean()),
  value: [quantity.nullable(), ({ value }) => value && quantityJson(value)],
  threshold: [quantity.nullable(), ({ threshold }) => threshold && quantityJson(threshold)],
  acknowledged: [acknowledgement.nullable(), (incident) => acknowledgementJson(incident.acknowledgement)],
});

const factJson = publicObject<Fact>()('Fact', {
  name: same(text),
  value: [
    quantity.describe('As a quantity; an instant as ISO 8601, a count as a number'),
    ({ value }) => factValueJson(value),
  ],
});

const testAlertSchema = z
  .strictObject({
    account: text,
    rule: text,
    severity: severitySchema,
    resolvesAt: instant,
    channels: z
      .array(
        z.strictObject({
          channel: text,
          delivered: z.boolean().nullable().describe('Null: not known yet'),
          reason: text.nullable().describe('Why not'),
        }),
      )
      .nullable()
      .describe(
        'What the channels said that hear of it at once, none where a silence holds it; null where another daemon sends it',
      ),
  })
  .meta({ id: 'TestAlert' });

export const testAlertJson = Object.assign(
  async ({ incident, resolvesAt, told }: StartedTest): Promise<z.output<typeof testAlertSchema>> => {
    const { account, rule, severity } = incident;
    const channels = await told;
    return { account, rule, severity, resolvesAt: isoText(resolvesAt), channels: channels && [...channels] };
  },
  { schema: testAlertSchema },
);

const nextSchema = orNull(z.strictObject({ severity: severitySchema, at: instant })).describe(
  'What it says next that is worse, and when, by the forecast; null: nobody can say',
);
export const explanationJson = publicObject<Explanation>()('Explanation', {
  rule: [text, ({ rule }) => rule.id],
  type: [text, ({ rule }) => rule.type],
  verdict: [z.enum(['ok', 'breached', 'unknown', 'event']), ({ evaluation }) => evaluation.kind],
  severity: [severitySchema.nullable(), ({ evaluation: it }) => ('severity' in it ? it.severity : null)],
  why: [
    text.nullable().describe('Why there is no verdict'),
    ({ evaluation }) => (evaluation.kind === 'unknown' ? evaluation.why : null),
  ],
  value: [quantity.nullable(), ({ evaluation: { value } }) => value && quantityJson(value)],
  threshold: [quantity.nullable(), ({ evaluation: { threshold } }) => threshold && quantityJson(threshold)],
  facts: [z.array(factJson.schema), ({ evaluation }) => evaluation.facts.map(factJson)],
  wouldNotFire: same(text.nullable()),
  next: [nextSchema, ({ next }) => next && { severity: next.severity, at: isoText(Math.round(next.at)) }],
  alert: [orNull(alertJson.schema), ({ alert }) => alert && alertJson(alert)],
});

export const notificationJson = publicObject<Notification>()('Notification', {
  id: same(text),
  channel: same(text),
  kind: [
    text
      .nullable()
      .describe(
        'What the message says last: firing, worse, reminder, escalated, resolved, flapping, event, report',
      ),
    ({ report, items }) => (report === null ? (items.at(-1)?.kind ?? null) : 'report'),
  ],
  state: same(z.enum(['pending', 'delivered', 'dead'])),
  attempts: same(z.int()),
  createdAt: [instant, ({ createdAt }) => isoText(createdAt)],
  deliveredAt: at(),
  lastError: same(text.nullable()),
  alerts: [
    z.array(z.strictObject({ account: text, rule: text, kind: text })),
    ({ items }) => items.map(({ account, rule, kind }) => ({ account, rule, kind })),
  ],
});

export const auditJson = publicObject<AuditEntry>()('AuditEntry', {
  at: [instant, ({ at }) => isoText(at)],
  by: same(text.describe('As a trusted proxy names the person, else as typed')),
  from: same(text.nullable().describe('Address of the client')),
  action: same(text),
  account: same(text.nullable()),
  rule: same(text.nullable()),
  detail: same(text),
});

export const channelJson = publicObject<ChannelView>()('Channel', {
  name: same(text),
  type: same(text),
  pending: same(z.int()),
  lastDeliveredAt: at(),
  lastError: same(text.nullable()),
});

const matchKeys = z.strictObject({
  account: list.optional(),
  provider: list.optional(),
  currency: list.optional(),
  rule: list.optional(),
  severity: z.array(severitySchema).readonly().optional(),
  labels: z.record(z.string(), list).optional(),
});
const matchSchema = matchKeys.extend({ not: matchKeys.optional() });

export const silenceJson = publicObject<SilenceView>()('Silence', {
  id: same(text.nullable().describe('Null for windows that come from the configuration')),
  match: [matchSchema, ({ match }): Matcher => match],
  startsAt: [instant, ({ startsAt }) => isoText(startsAt)],
  endsAt: [instant, ({ endsAt }) => isoText(endsAt)],
  by: same(text),
  comment: same(text),
  active: same(z.boolean()),
});

function factValueJson(value: Fact['value']): string | number {
  if (value.unit === 'instant') return isoText(value.at);
  return value.unit === 'count' ? value.count : quantityJson(value);
}

/** An acknowledgement as it is public: more of it is kept. */
export function acknowledgementJson(given: AlertView['acknowledged']) {
  return given && { at: isoText(given.at), by: given.by, comment: given.comment };
}
