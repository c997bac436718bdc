import { createRoute } from '@hono/zod-openapi';
import * as z from 'zod';
import { inSlices } from '../../daemon/slices.ts';
import { weekMs } from '../../domain/duration.ts';
import { isoDay } from '../../domain/moment.ts';
import type { Balance, BalanceDefinition, Reading } from '../../domain/reading.ts';
import { thin } from '../../spending/thin.ts';
import { formatHistoryLine, historyHeader } from '../../views/csv.ts';
import {
  accountJson,
  explanationJson,
  outcomeSchema,
  pollJson,
  readingJson,
} from '../../views/public-json.ts';
import type { AccountView, LiveViews } from '../../views/views.ts';
import { buildChart } from '../page/chart-model.ts';
import { chartRanges, readSpan } from '../page/chart-span.ts';
import { RequestError } from '../refusal.ts';
import { chartJson } from './chart-schema.ts';
import { accept, count, findAccount, parseInstant } from './input.ts';
import {
  type Api,
  answers,
  csvAnswer,
  csvFile,
  gives,
  refused,
  streamed,
  takes,
  window,
  written,
} from './operation.ts';
import { pushedReadingSchema } from './orders.ts';
import { maxItems, nextCursor, pageOfList, pageOfTime, pagingQuery } from './paging.ts';

const sliceOfAccounts = 50;
const sliceOfReadings = 2_000;
const tags = ['accounts'];
const params = z.object({ id: z.string() });

const listAccounts = createRoute({
  method: 'get',
  path: '/api/v1/accounts',
  operationId: 'listAccounts',
  summary: 'All accounts, or a page of them where a limit is given',
  tags,
  request: { query: z.object(pagingQuery) },
  responses: answers('Accounts in the order of the configuration', {
    accounts: z.array(accountJson.schema),
    nextCursor,
  }),
});

const getAccount = createRoute({
  method: 'get',
  path: '/api/v1/accounts/{id}',
  operationId: 'getAccount',
  summary: 'One account',
  tags,
  request: { params },
  responses: answers('The account', { account: accountJson.schema }),
});

const getHistory = createRoute({
  method: 'get',
  path: '/api/v1/accounts/{id}/history',
  operationId: 'getHistory',
  summary: 'Readings, oldest first; more than `points` come thinned with their minima and maxima',
  tags,
  request: {
    params,
    query: z.object({
      ...window,
      points: count(2, 200_000).default(5_000).meta({ description: 'How many at most, thinned' }),
      ...pagingQuery,
      limit: pagingQuery.limit.meta({
        description: 'Gives pages of so many readings, none left out, instead of thinning',
      }),
    }),
  },
  responses: answers('Readings', { points: z.array(readingJson.schema), nextCursor }),
});

const getHistoryCsv = createRoute({
  method: 'get',
  path: '/api/v1/accounts/{id}/history.csv',
  operationId: 'getHistoryCsv',
  summary:
    'Every reading as CSV, oldest first: at, the balances of the account, currency, as `lowwater history --csv` writes it',
  tags,
  request: { params, query: z.object(window) },
  responses: csvAnswer,
});

const listPolls = createRoute({
  method: 'get',
  path: '/api/v1/accounts/{id}/polls',
  operationId: 'listPolls',
  summary: 'Polls with their outcomes, newest first',
  tags,
  request: {
    params,
    query: z.object({ ...window, ...pagingQuery, limit: count(1, maxItems).default(100) }),
  },
  responses: answers('Polls', { polls: z.array(pollJson.schema), nextCursor }),
});

const explainRules = createRoute({
  method: 'get',
  path: '/api/v1/accounts/{id}/explain',
  operationId: 'explainRules',
  summary: 'What each rule says now, with the numbers behind it',
  tags,
  request: {
    params,
    query: z.object({
      rule: z.string().optional().meta({ description: 'Only this rule' }),
      ...pagingQuery,
    }),
  },
  responses: answers('What the rules say', {
    explanations: z.array(explanationJson.schema),
    nextCursor,
  }),
});

const rangeNames = chartRanges.map(({ name }) => name);

const getChart = createRoute({
  method: 'get',
  path: '/api/v1/accounts/{id}/chart',
  operationId: 'getChart',
  summary: 'What the chart on the page draws',
  tags,
  request: {
    params,
    query: z.object({
      range: z
        .enum(rangeNames, { error: `give ${rangeNames.join(', ')}` })
        .default('24h')
        .meta({ description: 'The time up to now; since or until instead give any other' }),
      since: z.string().optional().meta({
        description: 'Inclusive; ISO 8601 or a duration ago; default: a week before until',
      }),
      until: window.until,
      points: count(2, 5_000)
        .default(800)
        .meta({ description: 'How many at most, thinned with minima and maxima' }),
      balance: z.string().optional().meta({ description: 'Default: the first balance of the account' }),
    }),
  },
  responses: { 200: gives('The chart', chartJson.schema), ...refused },
});

const pollAccount = createRoute({
  method: 'post',
  path: '/api/v1/accounts/{id}/poll',
  operationId: 'pollAccount',
  summary: 'Polls as soon as the guard allows; refused with 409 while backing off',
  tags,
  request: { params },
  responses: answers('How it ended', { outcome: outcomeSchema, account: accountJson.schema }),
});

const pushReading = createRoute({
  method: 'post',
  path: '/api/v1/accounts/{id}/readings',
  operationId: 'pushReading',
  summary: 'Brings a reading of an account that is not polled; the same one again changes nothing',
  tags,
  request: { params, ...takes(pushedReadingSchema) },
  responses: answers('Whether it was new, and the account', {
    stored: z.boolean().meta({ description: 'False where this very reading was there already' }),
    account: accountJson.schema,
  }),
});

export function addAccountOperations(api: Api): void {
  api.openapi(listAccounts, (context) => {
    const page = pageOfList(context.var.views.accountIds(), context.req.valid('query'), (id) => id);
    return written(context, streamed(context, writeAccounts(context.var.views, page.items, page.nextCursor)));
  });

  api.openapi(getAccount, async (context) => {
    const account = await findAccount(context.var.views, context.req.valid('param').id);
    return context.json({ account: accountJson(account) }, 200);
  });

  api.openapi(getHistory, async (context) => {
    const { id } = await findAccount(context.var.views, context.req.valid('param').id);
    const { limit, points, cursor, ...given } = context.req.valid('query');
    const { since, until } = readWindow(given, context.get('now'));
    const readings = await context.var.views.readings(id, since, until);
    const page =
      limit === undefined
        ? { items: thin(readings, points), nextCursor: null }
        : pageOfList(readings, { limit, cursor }, ({ at }) => String(at));
    // Written at once: a year of readings is the most that this server ever serialises.
    const body = page.items.map((reading) => JSON.stringify(readingJson(reading))).join(',');
    return written(context, `{"points":[${body}],"nextCursor":${JSON.stringify(page.nextCursor)}}\n`);
  });

  api.openapi(getHistoryCsv, async (context) => {
    const { id, balances } = await findAccount(context.var.views, context.req.valid('param').id);
    const { since, until } = readWindow(context.req.valid('query'), context.get('now'));
    const lines = writeCsv(await context.var.views.readings(id, since, until), balances);
    return csvFile(context, `${id}-${isoDay(since, 'UTC')}-${isoDay(until - 1, 'UTC')}`, lines);
  });

  api.openapi(listPolls, async (context) => {
    const { id, balances } = await findAccount(context.var.views, context.req.valid('param').id);
    const { limit, cursor, ...given } = context.req.valid('query');
    const { since, until } = readWindow(given, context.get('now'));
    const page = await pageOfTime(
      { limit, cursor },
      async (query) => {
        const polls = await context.var.views.polls(id, since, Math.min(until, query.before));
        return polls.slice(-query.limit).toReversed();
      },
      ({ at }) => at,
    );
    return context.json(
      { polls: page.items.map((poll) => pollJson(poll, balances)), nextCursor: page.nextCursor },
      200,
    );
  });

  api.openapi(explainRules, async (context) => {
    const { id } = await findAccount(context.var.views, context.req.valid('param').id);
    const { rule: wanted, ...query } = context.req.valid('query');
    const all = await context.var.views.explain(id);
    const explanations = all.filter(({ rule }) => wanted === undefined || rule.id === wanted);
    if (wanted !== undefined && explanations.length === 0) {
      throw new RequestError('not_found', 'No such rule applies to this account.');
    }
    const page = pageOfList(explanations, query, ({ rule }) => rule.id);
    return context.json({ explanations: page.items.map(explanationJson), nextCursor: page.nextCursor }, 200);
  });

  api.openapi(getChart, async (context) => {
    const account = await findAccount(context.var.views, context.req.valid('param').id);
    const { balance: wanted, points, ...time } = context.req.valid('query');
    const balance = readBalance(wanted, account);
    const now = context.get('now');
    const span = readSpan(time, { now, timezone: 'UTC' });
    const chart = await buildChart(context.var.views, { account, span, balance, points, now });
    return context.json(
      chartJson({ ...chart, account: account.id, balance, currency: account.currency }),
      200,
    );
  });

  api.openapi(pollAccount, async (context) => {
    const { id } = await findAccount(context.var.views, context.req.valid('param').id);
    const { outcome, view } = accept(await context.var.views.pollNow(id));
    return context.json({ outcome, account: accountJson(view) }, 200);
  });

  api.openapi(pushReading, async (context) => {
    const { views } = context.var;
    const { id } = await findAccount(views, context.req.valid('param').id);
    const { at, balances, currency } = context.req.valid('json');
    const { isNew } = accept(
      await views.pushReading({ account: id, at: Date.parse(at), balances, currency }),
    );
    const account = await findAccount(views, id);
    return context.json({ stored: isNew, account: accountJson(account) }, 200);
  });
}

async function* writeAccounts(
  views: Pick<LiveViews, 'accounts'>,
  ids: readonly string[],
  next: string | null,
): AsyncGenerator<string> {
  let separator = '';
  yield '{"accounts":[';
  for await (const slice of inSlices(ids, sliceOfAccounts)) {
    let text = '';
    for (const account of await views.accounts(slice)) {
      text += separator + JSON.stringify(accountJson(account));
      separator = ',';
    }
    yield text;
  }
  yield `],"nextCursor":${JSON.stringify(next)}}\n`;
}

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
): { readonly since: number; readonly until: number } {
  // The end is exclusive, and a reading of this very millisecond belongs to the answer.
  const until = parseInstant(given.until, 'until', now) ?? now + 1;
  return { since: parseInstant(given.since, 'since', now) ?? until - weekMs, until };
}
