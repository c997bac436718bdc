import * as z from 'zod';
import { formatMicros } from '../domain/money.ts';
import { ownOf } from '../domain/own.ts';
import { type Forecast, forecastBases } from '../domain/quantity.ts';
import {
  type Balance,
  type BalanceDefinition,
  mapEach,
  ofEach,
  type PollRecord,
  type Reading,
  unitOf,
} from '../domain/reading.ts';
import { isoText } from '../domain/time.ts';
import {
  at,
  instant,
  money,
  moneyOrNull,
  orNull,
  outcomeSchema,
  publicObject,
  runway,
  same,
  secondsOrNull,
  severitySchema,
  text,
  texts,
} from './public-object.ts';
import type { BriefAccount } from './views.ts';

/** A value for each balance of the account, by its id. */
function each<Schema extends z.ZodType>(
  value: Schema,
  of: (view: BriefAccount, balance: Balance) => z.output<Schema>,
) {
  const { description } = value;
  return [
    z.record(z.string(), value).meta(description === undefined ? {} : { description }),
    (view: BriefAccount) => ofEach(view.balances, (balance) => of(view, balance)),
  ] as const;
}

export const forecastJson = publicObject<Forecast>()('Forecast', {
  emptyAt: at(
    'As likely before as after, without top-ups that are only expected; null: later than can be predicted',
  ),
  earliest: at('Four times in five it lies between earliest and latest'),
  latest: at(),
  basis: same(z.enum(forecastBases).describe('What is known: less than a day, less than a week, or more')),
});

export const accountJson = publicObject<BriefAccount>()('Account', {
  id: same(text),
  name: same(text),
  labels: same(texts),
  currency: same(text.nullable()),
  outcome: same(outcomeSchema.nullable().describe('How the last poll ended')),
  failure: same(text.nullable().describe('Why the last poll failed')),
  polledAt: at(),
  readAt: at('When the balances were last read'),
  balances: each(money.nullable(), ({ reading }, balance) => moneyOrNull(ownOf(reading?.balances, balance))),
  units: each(
    text.nullable().describe('What each balance counts: the currency, or a unit of its own such as minutes'),
    unitOf,
  ),
  burnPerDay: each(money.nullable(), ({ runways }, balance) =>
    moneyOrNull(ownOf(runways, balance)?.burnPerDay),
  ),
  runwaySeconds: each(runway, ({ runways }, balance) => secondsOrNull(ownOf(runways, balance)?.runwayMs)),
  forecast: each(orNull(forecastJson.schema), ({ runways }, id) =>
    forecastOrNull(ownOf(runways, id)?.forecast),
  ),
  consecutiveFailures: same(z.int()),
  backoffUntil: at(),
  usageHeaders: [texts, ({ usage }) => usage],
  severity: [severitySchema.nullable().describe('The worst that fires now'), (view) => view.worst],
  firing: same(z.int()),
  pending: same(z.int()),
});

const pointSchema = z
  .object({ at: instant, currency: text })
  .catchall(z.string())
  .meta({ id: 'Point', description: 'Each balance of the account by its id, as a decimal string' });

export const readingJson = Object.assign(
  ({ at: readAt, balances, currency }: Reading): z.output<typeof pointSchema> => {
    return { at: isoText(readAt), ...mapEach(balances, formatMicros), currency };
  },
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
  (poll: PollRecord, balances: readonly BalanceDefinition[]): z.output<typeof pollSchema> => ({
    at: isoText(poll.at),
    outcome: poll.outcome,
    ...ofEach(balances, (balance) => moneyOrNull(ownOf(poll.reading?.balances, balance))),
    currency: poll.reading?.currency ?? null,
  }),
  { schema: pollSchema },
);

export function forecastOrNull(forecast: Forecast | null | undefined) {
  return forecast ? forecastJson(forecast) : null;
}
