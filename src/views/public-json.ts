import * as z from 'zod';
import type { Incident } from '../domain/alert.ts';
import { type Forecast, forecastBases } from '../domain/forecast.ts';
import { isoText } from '../domain/moment.ts';
import { formatMicros, type Micros } from '../domain/money.ts';
import type { AuditEntry, ExpectedTopUp } from '../domain/operator.ts';
import type { Notification } from '../domain/outbox.ts';
import type { Fact, Quantity } from '../domain/quantity.ts';
import {
  type BalanceDefinition,
  mapEach,
  ofEach,
  outcomeKinds,
  type PollRecord,
  type Reading,
} from '../domain/reading.ts';
import type { Matcher } from '../domain/rule.ts';
import { severities } from '../domain/severity.ts';
import type { DuePayment } from './payment-plan.ts';
import { orNull, publicObject } from './public-object.ts';
import type { AccountView, AlertView, ChannelView, Explanation, SilenceView } from './views.ts';

/*
 * The public JSON of what the views show: the HTTP API and the command line's `--json` give the
 * same. Money is a decimal string, an instant an ISO 8601 text in UTC, a duration a number of seconds; null
 * is unknown.
 */

const text = z.string();
const instant = z.iso.datetime().meta({ description: 'ISO 8601, UTC' });
const money = z.string().meta({ description: 'A decimal string without trailing zeros' });
const quantity = z
  .union([z.string(), z.number()])
  .meta({ description: 'Money as a decimal string, a duration in seconds, or text' });
const texts = z.record(z.string(), z.string());
const outcome = z.enum(outcomeKinds);
const acknowledgement = z.strictObject({ at: instant, by: text, comment: text });
const list = z.array(text).readonly();
export const severitySchema = z.enum(severities);
export const balanceSchema = text.meta({ description: 'One of the balances of the account' });
export const outcomeSchema = outcome;

export const forecastJson = publicObject<Forecast>()('Forecast', {
  emptyAt: [
    instant.nullable().meta({ description: 'As likely before as after; null: later than can be predicted' }),
    ({ emptyAt }) => isoOrNull(wholeMs(emptyAt)),
  ],
  earliest: [
    instant.nullable().meta({ description: 'Four times in five it lies between earliest and latest' }),
    ({ earliest }) => isoOrNull(wholeMs(earliest)),
  ],
  latest: [instant.nullable(), ({ latest }) => isoOrNull(wholeMs(latest))],
  basis: [
    z.enum(forecastBases).meta({ description: 'What is known: less than a day, less than a week, or more' }),
    ({ basis }) => basis,
  ],
});

const forecasts = perBalance(orNull(forecastJson.schema));

export const accountJson = publicObject<AccountView>()('Account', {
  id: [text, ({ id }) => id],
  name: [text, ({ name }) => name],
  labels: [texts, ({ labels }) => labels],
  currency: [text.nullable(), ({ currency }) => currency],
  outcome: [outcome.nullable().meta({ description: 'How the last poll ended' }), (view) => view.outcome],
  failure: [text.nullable().meta({ description: 'Why the last poll failed' }), ({ failure }) => failure],
  polledAt: [instant.nullable(), ({ polledAt }) => isoOrNull(polledAt)],
  readAt: [
    instant.nullable().meta({ description: 'When the balances were last read' }),
    ({ readAt }) => isoOrNull(readAt),
  ],
  balances: [
    perBalance(money.nullable()),
    ({ reading, balances }) => ofEach(balances, (balance) => moneyOrNull(reading?.balances[balance])),
  ],
  burnPerDay: [
    perBalance(money.nullable()),
    ({ runways, balances }) => ofEach(balances, (balance) => moneyOrNull(runways[balance]?.burnPerDay)),
  ],
  runwaySeconds: [
    perBalance(z.number().nullable()),
    ({ runways, balances }) => ofEach(balances, (balance) => secondsOrNull(runways[balance]?.runwayMs)),
  ],
  forecast: [
    forecasts,
    ({ runways, balances }) => ofEach(balances, (balance) => forecastOrNull(runways[balance]?.forecast)),
  ],
  consecutiveFailures: [z.int(), (view) => view.consecutiveFailures],
  backoffUntil: [instant.nullable(), ({ backoffUntil }) => isoOrNull(backoffUntil)],
  usageHeaders: [texts, ({ usage }) => usage],
  severity: [
    severitySchema.nullable().meta({ description: 'The worst that fires now' }),
    ({ worst }) => worst,
  ],
  firing: [z.int(), ({ firing }) => firing],
  pending: [z.int(), ({ pending }) => pending],
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
  .object({ at: instant, outcome, currency: text.nullable() })
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
  account: [text, ({ account }) => account],
  rule: [text, ({ rule }) => rule],
  type: [text, ({ type }) => type],
  balance: [balanceSchema.nullable(), ({ balance }) => balance],
  severity: [severitySchema, ({ severity }) => severity],
  state: [z.enum(['pending', 'firing', 'resolved']), ({ state }) => state],
  since: [instant, ({ since }) => isoText(since)],
  resolvedAt: [instant.nullable(), ({ resolvedAt }) => isoOrNull(resolvedAt)],
  value: [quantity.nullable(), ({ value }) => value && quantityJson(value)],
  threshold: [quantity.nullable(), ({ threshold }) => threshold && quantityJson(threshold)],
  forecast: [
    forecasts.meta({ description: 'Of the account now; null where nothing is predicted, and once resolved' }),
    ({ forecast }) => mapEach(forecast, forecastOrNull),
  ],
  summary: [text, ({ summary }) => summary],
  acknowledged: [acknowledgement.nullable(), ({ acknowledged }) => acknowledgementJson(acknowledged)],
  silenced: [z.boolean(), ({ silenced }) => silenced],
  inhibited: [z.boolean(), ({ inhibited }) => inhibited],
  flapping: [z.boolean(), ({ flapping }) => flapping],
  incident: [text.nullable(), ({ incident }) => incident],
});

export const paymentJson = publicObject<DuePayment>()('Payment', {
  account: [text, ({ account }) => account.id],
  name: [text, ({ account }) => account.name],
  labels: [texts, ({ account }) => account.labels],
  balance: [text, ({ balance }) => balance],
  currency: [text, ({ account }) => account.currency ?? ''],
  amount: [
    money.meta({ description: 'For another 30 days, and at least what clears the alerts of the balance' }),
    ({ micros }) => formatMicros(micros),
  ],
  by: [
    instant.nullable().meta({ description: 'By when to pay; null where no forecast says: at once' }),
    ({ dueAt }) => isoOrNull(wholeMs(dueAt)),
  ],
  left: [money.nullable(), ({ account, balance }) => moneyOrNull(account.reading?.balances[balance])],
  runwaySeconds: [
    z.number().nullable(),
    ({ account, balance }) => secondsOrNull(account.runways[balance]?.runwayMs),
  ],
  topUpUrl: [text.nullable(), ({ account }) => account.topUpUrl],
});

export const expectedJson = publicObject<ExpectedTopUp>()('ExpectedTopUp', {
  id: [text, ({ id }) => id],
  account: [text, ({ account }) => account],
  balance: [balanceSchema, ({ balance }) => balance],
  amount: [money, ({ amountMicros }) => formatMicros(amountMicros)],
  received: [
    money.meta({ description: 'By how much the balance rose since' }),
    ({ receivedMicros }) => formatMicros(receivedMicros),
  ],
  arrivesBy: [instant, ({ by }) => isoText(by)],
  orderedAt: [instant, ({ orderedAt }) => isoText(orderedAt)],
  orderedBy: [text, ({ orderedBy }) => orderedBy],
  comment: [text, ({ comment }) => comment],
});

export const incidentJson = publicObject<Incident>()('Incident', {
  id: [text, ({ id }) => id],
  account: [text, ({ account }) => account],
  accountName: [text, ({ accountName }) => accountName],
  rule: [text, ({ rule }) => rule],
  type: [text, ({ type }) => type],
  balance: [balanceSchema.nullable(), ({ balance }) => balance],
  severity: [severitySchema, ({ severity }) => severity],
  worstSeverity: [severitySchema, ({ worstSeverity }) => worstSeverity],
  firedAt: [instant, ({ firedAt }) => isoText(firedAt)],
  resolvedAt: [instant.nullable(), ({ resolvedAt }) => isoOrNull(resolvedAt)],
  resolution: [
    z
      .enum(['recovered', 'topped-up', 'rule-removed', 'account-removed', 'account-moved', 'channel-removed'])
      .nullable(),
    ({ resolution }) => resolution?.kind ?? null,
  ],
  event: [z.boolean(), ({ event }) => event],
  value: [quantity.nullable(), ({ value }) => value && quantityJson(value)],
  threshold: [quantity.nullable(), ({ threshold }) => threshold && quantityJson(threshold)],
  acknowledged: [acknowledgement.nullable(), (incident) => acknowledgementJson(incident.acknowledgement)],
});

const factJson = publicObject<Fact>()('Fact', {
  name: [text, ({ name }) => name],
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
  wouldNotFire: [text.nullable(), ({ wouldNotFire }) => wouldNotFire],
  next: [
    orNull(z.strictObject({ severity: severitySchema, at: instant })).meta({
      description: 'What it says next that is worse, and when, by the forecast; null: nobody can say',
    }),
    ({ next }) => next && { severity: next.severity, at: isoText(Math.round(next.at)) },
  ],
  alert: [orNull(alertJson.schema), ({ alert }) => alert && alertJson(alert)],
});

export const notificationJson = publicObject<Notification>()('Notification', {
  id: [text, ({ id }) => id],
  channel: [text, ({ channel }) => channel],
  kind: [
    text.nullable().meta({
      description:
        'What the message says last: firing, worse, reminder, escalated, resolved, flapping, event, report',
    }),
    ({ report, items }) => (report === null ? (items.at(-1)?.kind ?? null) : 'report'),
  ],
  state: [z.enum(['pending', 'delivered', 'dead']), ({ state }) => state],
  attempts: [z.int(), ({ attempts }) => attempts],
  createdAt: [instant, ({ createdAt }) => isoText(createdAt)],
  deliveredAt: [instant.nullable(), ({ deliveredAt }) => isoOrNull(deliveredAt)],
  lastError: [text.nullable(), ({ lastError }) => lastError],
  alerts: [
    z.array(z.strictObject({ account: text, rule: text, kind: text })),
    ({ items }) => items.map(({ account, rule, kind }) => ({ account, rule, kind })),
  ],
});

export const auditJson = publicObject<AuditEntry>()('AuditEntry', {
  at: [instant, ({ at }) => isoText(at)],
  by: [text.meta({ description: 'As a trusted proxy names the person, else as typed' }), ({ by }) => by],
  from: [text.nullable().meta({ description: 'Address of the client' }), ({ from }) => from],
  action: [text, ({ action }) => action],
  account: [text.nullable(), ({ account }) => account],
  rule: [text.nullable(), ({ rule }) => rule],
  detail: [text, ({ detail }) => detail],
});

export const channelJson = publicObject<ChannelView>()('Channel', {
  name: [text, ({ name }) => name],
  type: [text, ({ type }) => type],
  pending: [z.int(), ({ pending }) => pending],
  lastDeliveredAt: [instant.nullable(), ({ lastDeliveredAt }) => isoOrNull(lastDeliveredAt)],
  lastError: [text.nullable(), ({ lastError }) => lastError],
});

export const silenceJson = publicObject<SilenceView>()('Silence', {
  id: [
    text.nullable().meta({ description: 'Null for windows that come from the configuration' }),
    ({ id }) => id,
  ],
  match: [
    z.strictObject({
      account: list.optional(),
      rule: list.optional(),
      severity: z.array(severitySchema).readonly().optional(),
      labels: z.record(z.string(), list).optional(),
    }),
    ({ match }): Matcher => match,
  ],
  startsAt: [instant, ({ startsAt }) => isoText(startsAt)],
  endsAt: [instant, ({ endsAt }) => isoText(endsAt)],
  by: [text, ({ by }) => by],
  comment: [text, ({ comment }) => comment],
  active: [z.boolean(), ({ active }) => active],
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
function acknowledgementJson(
  given: { readonly at: number; readonly by: string; readonly comment: string } | null,
) {
  return given && { at: isoText(given.at), by: given.by, comment: given.comment };
}

export function isoOrNull(at: number | null): string | null {
  return at === null ? null : isoText(at);
}

function moneyOrNull(micros: Micros | null | undefined): string | null {
  return micros === null || micros === undefined ? null : formatMicros(micros);
}

function secondsOrNull(ms: number | null | undefined): number | null {
  return ms === null || ms === undefined ? null : Math.round(ms / 1000);
}

/** The schema of a value for each balance of an account, by its id. */
export function perBalance<Value extends z.ZodType>(value: Value) {
  return z.record(z.string(), value);
}

function forecastOrNull(forecast: Forecast | null | undefined) {
  return forecast == null ? null : forecastJson(forecast);
}

/** A prediction falls between two milliseconds. */
function wholeMs(at: number | null): number | null {
  return at === null ? null : Math.round(at);
}
