import * as z from 'zod';
import type { Chart } from '../../chart/chart.ts';
import { inSlices } from '../../daemon/slices.ts';
import type { Micros } from '../../domain/money.ts';
import { type Balance, type BalanceDefinition, type Reading, unitOf } from '../../domain/reading.ts';
import { isoDay, weekMs } from '../../domain/time.ts';
import { thin } from '../../spending/thin.ts';
import { pollJson, readingJson } from '../../views/account-json.ts';
import { formatHistoryLine, historyHeader } from '../../views/csv.ts';
import { explanationJson } from '../../views/public-json.ts';
import { balanceSchema, publicObject, same, severitySchema } from '../../views/public-object.ts';
import type { AccountView } from '../../views/views.ts';
import { english } from '../../wording/language.ts';
import { buildChart, chartRanges, readSpan } from '../page/chart-model.ts';
import { RequestError, refusals } from '../refusal.ts';
import {
  count,
  findAccount,
  nextCursor,
  pageOfList,
  pageOfTime,
  pagingQuery,
  parseInstant,
  recentQuery,
} from './input.ts';
import {
  answers,
  csv,
  csvFile,
  gives,
  listed,
  type Operation,
  operations,
  window,
  written,
} from './operation.ts';

const sliceOfReadings = 2_000;
const { get } = operations('accounts');
const params = { id: z.string() };

const rangeNames = chartRanges.map(({ name }) => name);
export const rangeSchema = z.enum(rangeNames, { error: `give ${rangeNames.join(', ')}` });

const instant = z.number();
const amount = z.number();
const corners = z.array(z.tuple([instant, amount]));

export const chartJson = publicObject<
  Chart & { readonly account: string; readonly balance: Balance; readonly currency: string | null }
>()(
  'Chart',
  {
    account: same(z.string()),
    balance: same(balanceSchema),
    currency: same(z.string().nullable()),
    since: same(instant),
    until: same(instant),
    now: same(instant),
    points: [
      z
        .array(z.tuple([instant, amount.nullable()]))
        .describe('Instant and amount; null where nothing was read from then on'),
      ({ points }) =>
        points.map(({ at, value }): [number, number | null] => [at, value === null ? null : units(value)]),
    ],
    thresholds: [
      z
        .array(z.strictObject({ severity: severitySchema, value: amount }))
        .describe('Without those so far away that the line would lie flat'),
      ({ thresholds }) => thresholds.map(({ severity, value }) => ({ severity, value: units(value) })),
    ],
    topUps: [
      z.array(z.strictObject({ at: instant, amount, value: amount })),
      ({ topUps }) => topUps.map(({ at, rise, value }) => ({ at, amount: units(rise), value: units(value) })),
    ],
    incidents: [
      z.array(z.strictObject({ from: instant, to: instant, severity: severitySchema, rule: z.string() })),
      ({ incidents }) => incidents.map(({ from, to, severity, rule }) => ({ from, to, severity, rule })),
    ],
    silences: [
      z.array(z.strictObject({ from: instant, to: instant })),
      ({ silences }) => silences.map(({ from, to }) => ({ from, to })),
    ],
    foretold: [
      corners.describe('What was predicted a week ago, with what came'),
      ({ predicted }) => predicted.map(({ at, value }) => corner(at, value ?? 0)),
    ],
    coming: [
      corners.describe('Expected top-ups, and below zero what a monthly run takes'),
      ({ coming }) => coming.map(({ at, micros }) => corner(at, micros)),
    ],
    projection: [corners, ({ projection }) => projection.map(({ at, value }) => corner(at, value))],
    fan: [
      z.array(z.tuple([instant, amount, amount])).describe('Instant, and the 80 % range of the balance then'),
      ({ fan }) => fan.map(({ at, low, high }): [number, number, number] => [at, units(low), units(high)]),
    ],
  },
  'What the chart on the page draws. Instants are milliseconds since 1970. Amounts are rounded to doubles here; history has them exactly.',
);

/** The operations about an account's history: readings, polls, what its rules say, and the chart. */
export const historyOperations: readonly Operation[] = [
  get('accounts/{id}/history', 'getHistory', {
    summary: 'Readings, oldest first; more than `points` come thinned with their minima and maxima',
    params,
    query: {
      ...window,
      points: count(2, 200_000).default(5_000).describe('How many at most, thinned'),
      ...pagingQuery,
      limit: pagingQuery.limit.describe(
        'Gives pages of so many readings, none left out, instead of thinning',
      ),
    },
    answers: listed('Readings', 'points', readingJson),
    answer: async ({ views, now, params, query: { limit, points, cursor, ...given }, context }) => {
      const { id } = await findAccount(views, params.id);
      const { since, until } = readWindow(given, now);
      const readings = await views.readings(id, since, until);
      const page =
        limit === undefined && cursor === undefined
          ? { items: thin(readings, points), nextCursor: null }
          : pageOfList(readings, { limit, cursor }, ({ at }) => String(at));
      // Written by hand in one piece: a year of readings is the most that this server ever serialises.
      const body = page.items.map((reading) => JSON.stringify(readingJson(reading))).join(',');
      return written(context, `{"points":[${body}],"nextCursor":${JSON.stringify(page.nextCursor)}}\n`);
    },
  }),
  get('accounts/{id}/history.csv', 'getHistoryCsv', {
    summary:
      'Every reading as CSV, oldest first: at, the balances of the account, currency, as `lowwater history --csv` writes it',
    params,
    query: window,
    answers: csv,
    answer: async ({ views, now, params, query, context }) => {
      const { id, balances } = await findAccount(views, params.id);
      const { since, until } = readWindow(query, now);
      const lines = writeCsv(await views.readings(id, since, until), balances);
      return csvFile(context, `${id}-${isoDay(since, 'UTC')}-${isoDay(until - 1, 'UTC')}`, lines);
    },
  }),
  get('accounts/{id}/polls', 'listPolls', {
    summary: 'Polls with their outcomes, newest first',
    params,
    query: { ...window, ...recentQuery },
    answers: answers('Polls', { polls: z.array(pollJson.schema), nextCursor }),
    answer: async ({ views, now, params, query }) => {
      const { id, balances } = await findAccount(views, params.id);
      const { since, until } = readWindow(query, now);
      const page = await pageOfTime(
        query,
        async ({ limit, before }) => {
          const polls = await views.polls(id, since, Math.min(until, before));
          return polls.slice(-limit).toReversed();
        },
        ({ at }) => at,
      );
      return { polls: page.items.map((poll) => pollJson(poll, balances)), nextCursor: page.nextCursor };
    },
  }),
  get('accounts/{id}/explain', 'explainRules', {
    summary: 'What each rule says now, with the numbers behind it',
    params,
    query: { rule: z.string().optional().describe('Only this rule'), ...pagingQuery },
    answers: listed('What the rules say', 'explanations', explanationJson),
    answer: async ({ views, params, query }) => {
      const { id } = await findAccount(views, params.id);
      const all = await views.explain(id);
      const wanted = all.filter(({ rule }) => query.rule === undefined || rule.id === query.rule);
      if (query.rule !== undefined && wanted.length === 0)
        throw new RequestError('not_found', refusals.noRule());
      return pageOfList(wanted, query, ({ rule }) => rule.id);
    },
  }),
  get('accounts/{id}/chart', 'getChart', {
    summary: 'What the chart on the page draws',
    params,
    query: {
      range: rangeSchema.default('24h').describe('The time up to now; since or until instead give any other'),
      since: z
        .string()
        .optional()
        .describe('Inclusive; ISO 8601 or a duration ago; default: a week before until'),
      until: window.until,
      points: count(2, 5_000).default(800).describe('How many at most, thinned with minima and maxima'),
      balance: z.string().optional().describe('Default: the first balance of the account'),
    },
    answers: gives('The chart', chartJson.schema),
    answer: async ({ views, now, params, query: { balance: wanted, points, ...time } }) => {
      const account = await findAccount(views, params.id);
      const balance = readBalance(wanted, account);
      const span = readSpan(time, { language: english, now, timezone: 'UTC' });
      const chart = await buildChart(views, { account, span, balance, points, now });
      const currency = unitOf(account, balance);
      return chartJson({ ...chart, account: account.id, balance, currency });
    },
  }),
];

async function* writeCsv(
  readings: readonly Reading[],
  balances: readonly BalanceDefinition[],
): AsyncGenerator<string> {
  yield historyHeader(balances);
  for await (const slice of inSlices(readings, sliceOfReadings))
    yield slice.map((reading) => formatHistoryLine(reading, balances)).join('');
}

function readBalance(wanted: string | undefined, { balances }: AccountView): Balance {
  const ids = balances.map(({ id }) => id);
  const balance = wanted === undefined ? ids[0] : ids.find((id) => id === wanted);
  if (balance === undefined) throw new RequestError('bad_request', `balance: give ${ids.join(' or ')}`);
  return balance;
}

function readWindow(
  given: { readonly since?: string | undefined; readonly until?: string | undefined },
  now: number,
) {
  // The end is exclusive, but a reading of this very millisecond belongs to the answer.
  const until = parseInstant(given.until, 'until', now) ?? now + 1;
  return { since: parseInstant(given.since, 'since', now) ?? until - weekMs, until };
}

function corner(at: number, micros: Micros): [number, number] {
  return [at, units(micros)];
}

function units(micros: Micros): number {
  return micros / 1_000_000;
}
