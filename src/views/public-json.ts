import * as z from 'zod';
import type { Incident } from '../domain/alert.ts';
import { isoText } from '../domain/moment.ts';
import { formatMicros, type Micros } from '../domain/money.ts';
import type { AuditEntry, ExpectedTopUp } from '../domain/operator.ts';
import type { Notification } from '../domain/outbox.ts';
import { type Fact, type Forecast, forecastBases, type Quantity } from '../domain/quantity.ts';
import {
  type Balance,
  type BalanceDefinition,
  mapEach,
  ofEach,
  outcomeKinds,
  type PollRecord,
  type Reading,
} from '../domain/reading.ts';
import type { Matcher } from '../domain/rule.ts';
import { severities } from '../domain/severity.ts';
import type { ChannelView } from './create-views.ts';
import type { DuePayment } from './payment-plan.ts';
import type { AccountView, AlertView, Explanation, SilenceView } from './views.ts';

/*
 * The public JSON of what the views show: the HTTP API and the command line's `--json` give the
 * same. Money is a decimal string, an instant an ISO 8601 text in UTC, a duration a number of seconds; null
 * is unknown.
 */

type Fields<View, Shape extends z.ZodRawShape> = {
  readonly [Key in keyof Shape]: readonly [
    schema: Shape[Key],
    value: (view: View, key: Key) => z.output<Shape[Key]>,
  ];
};

/**
 * Describes a public object once: each key with the schema of its value and where the value comes from. Makes the JSON of a view; the schema
 * is for the API's document, where `id` names it, and for those who check answers.
 */
export function publicObject<View>() {
  return <Shape extends z.ZodRawShape>(id: string, fields: Fields<View, Shape>, description?: string) => {
    const entries = Object.entries(fields) as readonly [string, Fields<View, Shape>[string]][];
    // `Fields` has one for each key of the shape, and `fromEntries` forgets which.
    const shape = Object.fromEntries(Object.entries(fields).map(([key, [schema]]) => [key, schema])) as Shape;
    const schema = z.strictObject(shape).meta({ id, ...(description !== undefined && { description }) });
    const toPublic = (view: View) => {
      const made: Record<string, unknown> = {};
      for (const [key, [, value]] of entries) made[key] = value(view, key);
      return made as z.output<typeof schema>;
    };
    return Object.assign(toPublic, { schema });
  };
}

/** An object or null. The document's generator takes a named schema that is `nullable` for nullable everywhere. */
export function orNull<Schema extends z.ZodType>(schema: Schema) {
  return z.union([schema, z.null()]);
}

const text = z.string();
const instant = z.iso.datetime().meta({ description: 'ISO 8601, UTC' });
const money = z.string().meta({ description: 'A decimal string without trailing zeros' });
const quantity = z
  .union([z.string(), z.number()])
  .meta({ description: 'Money as a decimal string, a duration in seconds, or text' });
const texts = z.record(z.string(), z.string());
const seconds = z.number().nullable();
export const outcomeSchema = z.enum(outcomeKinds);
const acknowledgement = z.strictObject({ at: instant, by: text, comment: text });
const list = z.array(text).readonly();
export const severitySchema = z.enum(severities);
export const balanceSchema = text.meta({ description: 'One of the balances of the account' });

/** An instant of the view under the key's own name. */
function at(description?: string) {
  const schema = instant.nullable();
  return [
    description === undefined ? schema : schema.meta({ description }),
    <Key extends string>(view: Readonly<Record<Key, number | null>>, key: Key) => isoOrNull(view[key]),
  ] as const;
}

/** What the view has under the key's own name. */
export function same<Schema extends z.ZodType>(schema: Schema) {
  return [
    schema,
    <Key extends string>(view: Readonly<Record<Key, z.output<Schema>>>, key: Key) => view[key],
  ] as const;
}

/** A value for each balance of the account, by its id. */
function each<Schema extends z.ZodType>(
  value: Schema,
  of: (view: AccountView, balance: Balance) => z.output<Schema>,
) {
  return [
    perBalance(value),
    (view: AccountView) => ofEach(view.balances, (balance) => of(view, balance)),
  ] as const;
}

export const forecastJson = publicObject<Forecast>()('Forecast', {
  emptyAt: at('As likely before as after; null: later than can be predicted'),
  earliest: at('Four times in five it lies between earliest and latest'),
  latest: at(),
  basis: same(
    z.enum(forecastBases).meta({ description: 'What is known: less than a day, less than a week, or more' }),
  ),
});

export const accountJson = publicObject<AccountView>()('Account', {
  id: same(text),
  name: same(text),
  labels: same(texts),
  currency: same(text.nullable()),
  outcome: [
    outcomeSchema.nullable().meta({ description: 'How the last poll ended' }),
    (view) => view.outcome,
  ],
  failure: same(text.nullable().meta({ description: 'Why the last poll failed' })),
  polledAt: at(),
  readAt: at('When the balances were last read'),
  balances: each(money.nullable(), ({ reading }, balance) => moneyOrNull(reading?.balances[balance])),
  burnPerDay: each(money.nullable(), ({ runways }, balance) => moneyOrNull(runways[balance]?.burnPerDay)),
  runwaySeconds: each(seconds, ({ runways }, balance) => secondsOrNull(runways[balance]?.runwayMs)),
  forecast: each(orNull(forecastJson.schema), ({ runways }, id) => forecastOrNull(runways[id]?.forecast)),
  consecutiveFailures: same(z.int()),
  backoffUntil: at(),
  usageHeaders: [texts, ({ usage }) => usage],
  severity: [
    severitySchema.nullable().meta({ description: 'The worst that fires now' }),
    (view) => view.worst,
  ],
  firing: same(z.int()),
  pending: same(z.int()),
});

const pointSchema = z
  .object({ at: instant, currency: text })
  .catchall(z.string())
  .meta({ id: 'Point', description: 'Each balance of the account by its id, as a decimal string' });

export const readingJson = Object.assign(
  ({ at, balances, currency }: Reading): z.output<typeof pointSchema> => ({
    at: isoText(at),
    ...mapEach(balances, formatMicros),
    currency,
  }),
  { schema: pointSchema },
);

const pollSchema = z
  .object({ at: instant, outcome: outcomeSchema, currency: text.nullable() })
  .catchall(money.nullable())
  .meta({
    id: 'Poll',
    description: 'Each balance of the account by its id; null where the poll gave no reading',
  });

export const pollJson = Object.assign(
  (
    { at, outcome, reading }: PollRecord,
    balances: readonly BalanceDefinition[],
  ): z.output<typeof pollSchema> => ({
    at: isoText(at),
    outcome,
    ...ofEach(balances, (balance) => moneyOrNull(reading?.balances[balance])),
    currency: reading?.currency ?? null,
  }),
  { schema: pollSchema },
);
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
    perBalance(orNull(forecastJson.schema)).meta({
      description: 'Of the account now; null where nothing is predicted, and once resolved',
    }),
    ({ forecast }) => mapEach(forecast, forecastOrNull),
  ],
  summary: same(text),
  acknowledged: [acknowledgement.nullable(), ({ acknowledged }) => acknowledgementJson(acknowledged)],
  silenced: same(z.boolean()),
  inhibited: same(z.boolean()),
  flapping: same(z.boolean()),
  incident: same(text.nullable()),
});

export const paymentJson = publicObject<DuePayment>()('Payment', {
  account: [text, ({ account }) => account.id],
  name: [text, ({ account }) => account.name],
  labels: [texts, ({ account }) => account.labels],
  balance: same(text),
  currency: [text, ({ account }) => account.currency ?? ''],
  amount: [
    money.meta({ description: 'For another 30 days, and at least what clears the alerts of the balance' }),
    ({ micros }) => formatMicros(micros),
  ],
  by: [at('By when to pay; null where no forecast says: at once')[0], ({ dueAt }) => isoOrNull(dueAt)],
  left: [money.nullable(), ({ account, balance }) => moneyOrNull(account.reading?.balances[balance])],
  runwaySeconds: [seconds, ({ account, balance }) => secondsOrNull(account.runways[balance]?.runwayMs)],
  topUpUrl: [text.nullable(), ({ account }) => account.topUpUrl],
});

export const expectedJson = publicObject<ExpectedTopUp>()('ExpectedTopUp', {
  id: same(text),
  account: same(text),
  balance: same(balanceSchema),
  amount: [money, ({ amountMicros }) => formatMicros(amountMicros)],
  received: [
    money.meta({ description: 'By how much the balance rose since' }),
    ({ receivedMicros }) => formatMicros(receivedMicros),
  ],
  arrivesBy: [instant, ({ by }) => isoText(by)],
  orderedAt: [instant, ({ orderedAt }) => isoText(orderedAt)],
  orderedBy: same(text),
  comment: same(text),
});

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
  resolution: [
    z
      .enum(['recovered', 'topped-up', 'rule-removed', 'account-removed', 'account-moved', 'channel-removed'])
      .nullable(),
    ({ resolution }) => resolution?.kind ?? null,
  ],
  event: same(z.boolean()),
  value: [quantity.nullable(), ({ value }) => value && quantityJson(value)],
  threshold: [quantity.nullable(), ({ threshold }) => threshold && quantityJson(threshold)],
  acknowledged: [acknowledgement.nullable(), (incident) => acknowledgementJson(incident.acknowledgement)],
});

const factJson = publicObject<Fact>()('Fact', {
  name: same(text),
  value: [
    quantity.meta({ description: 'As a quantity; an instant as ISO 8601, a count as a number' }),
    ({ value }) => factValueJson(value),
  ],
});

export const explanationJson = publicObject<Explanation>()('Explanation', {
  rule: [text, ({ rule }) => rule.id],
  type: [text, ({ rule }) => rule.type],
  verdict: [z.enum(['ok', 'breached', 'unknown', 'event']), ({ evaluation }) => evaluation.kind],
  severity: [
    severitySchema.nullable(),
    ({ evaluation }) =>
      evaluation.kind === 'breached' || evaluation.kind === 'event' ? evaluation.severity : null,
  ],
  why: [
    text.nullable().meta({ description: 'Why there is no verdict' }),
    ({ evaluation }) => (evaluation.kind === 'unknown' ? evaluation.why : null),
  ],
  value: [quantity.nullable(), ({ evaluation: { value } }) => value && quantityJson(value)],
  threshold: [quantity.nullable(), ({ evaluation: { threshold } }) => threshold && quantityJson(threshold)],
  facts: [z.array(factJson.schema), ({ evaluation }) => evaluation.facts.map(factJson)],
  wouldNotFire: same(text.nullable()),
  next: [
    orNull(z.strictObject({ severity: severitySchema, at: instant })).meta({
      description: 'What it says next that is worse, and when, by the forecast; null: nobody can say',
    }),
    ({ next }) => next && { severity: next.severity, at: isoText(Math.round(next.at)) },
  ],
  alert: [orNull(alertJson.schema), ({ alert }) => alert && alertJson(alert)],
});

export const notificationJson = publicObject<Notification>()('Notification', {
  id: same(text),
  channel: same(text),
  kind: [
    text.nullable().meta({
      description:
        'What the message says last: firing, worse, reminder, escalated, resolved, flapping, event, report',
    }),
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
  by: same(text.meta({ description: 'As a trusted proxy names the person, else as typed' })),
  from: same(text.nullable().meta({ description: 'Address of the client' })),
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

const matchSchema = z.strictObject({
  account: list.optional(),
  rule: list.optional(),
  severity: z.array(severitySchema).readonly().optional(),
  labels: z.record(z.string(), list).optional(),
});

export const silenceJson = publicObject<SilenceView>()('Silence', {
  id: same(text.nullable().meta({ description: 'Null for windows that come from the configuration' })),
  match: [matchSchema, ({ match }): Matcher => match],
  startsAt: [instant, ({ startsAt }) => isoText(startsAt)],
  endsAt: [instant, ({ endsAt }) => isoText(endsAt)],
  by: same(text),
  comment: same(text),
  active: same(z.boolean()),
});

/** Money as a decimal string, a duration as seconds, text as it is. */
export function quantityJson(quantity: Quantity): string | number {
  if (quantity.unit === 'money') return formatMicros(quantity.micros);
  return quantity.unit === 'duration' ? quantity.ms / 1000 : quantity.text;
}

function factValueJson(value: Fact['value']): string | number {
  if (value.unit === 'instant') return isoText(value.at);
  return value.unit === 'count' ? value.count : quantityJson(value);
}

/** More of an acknowledgement is kept than is public. */
export function acknowledgementJson(
  given: { readonly at: number; readonly by: string; readonly comment: string } | null,
) {
  return given && { at: isoText(given.at), by: given.by, comment: given.comment };
}

/** A prediction falls between two milliseconds. */
export function isoOrNull(at: number | null): string | null {
  return at === null ? null : isoText(Math.round(at));
}

function moneyOrNull(micros: Micros | null | undefined): string | null {
  return micros === null || micros === undefined ? null : formatMicros(micros);
}

function secondsOrNull(ms: number | null | undefined): number | null {
  return ms === null || ms === undefined ? null : Math.round(ms / 1000);
}

function perBalance<Value extends z.ZodType>(value: Value) {
  return z.record(z.string(), value);
}

function forecastOrNull(forecast: Forecast | null | undefined) {
  return forecast == null ? null : forecastJson(forecast);
}
