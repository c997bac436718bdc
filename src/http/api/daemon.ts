import * as z from 'zod';
import { inSlices } from '../../daemon/slices.ts';
import { shape } from '../../schema/shapes.ts';
import type { LiveViews } from '../../views/live-views.ts';
import { languageIds } from '../../wording/language.ts';
import { known, RequestError, refusals } from '../refusal.ts';
import { count, maxItems, parseInput, parseInstant } from './input.ts';
import { answers, type Operation, operations, writeList, written } from './operation.ts';
import { byQuery } from './orders.ts';

const { get, post } = operations('daemon');
const names = z.array(z.string());
const params = { id: z.string() };

const daemonKeys = {
  version: z.string(),
  database: z.string().nullable().describe('The id of its database'),
  timezone: z.string().describe('IANA time zone of the configuration'),
  problems: names.describe('What is wrong although it runs'),
  accounts: names,
  rules: names,
  channels: names,
  reports: names,
  languages: names.describe('In which pages and messages can be read, as BCP 47 names them'),
};

/** The answer of `GET /api/v1/daemon`. */
export type DescribedDaemon = z.output<z.ZodObject<typeof daemonKeys>>;

interface ViewQuery extends Record<'account' | 'all', string>, Record<'limit' | 'from' | 'to', number> {
  readonly views: LiveViews;
}

type Listed = Iterable<object | null> | AsyncIterable<object>;

interface ShownView {
  /** The parameters that the view reads. */
  readonly keys: readonly string[];
  readonly list: (query: ViewQuery) => Listed | Promise<Listed>;
}

/** The views that commands show, each as a list. */
const shownViews = {
  accounts: {
    keys: [],
    async *list({ views }) {
      for await (const ids of inSlices(views.accountIds(), 50)) yield* await views.accountsInBrief(ids);
    },
  },
  summary: { keys: ['limit'], list: async ({ views, limit }) => [await views.summary(limit)] },
  account: { keys: ['account'], list: async ({ views, account }) => [await views.account(account)] },
  readings: {
    keys: ['account', 'since', 'until'],
    list: ({ views, account, from, to }) => views.readings(account, from, to),
  },
  alerts: { keys: ['all'], list: ({ views, all }) => views.alerts({ all: all === 'true' }) },
  explain: { keys: ['account'], list: ({ views, account }) => views.explain(account) },
  silences: { keys: [], list: ({ views }) => known(views).silences() },
  expected: { keys: [], list: ({ views }) => known(views).expected() },
  announced: { keys: [], list: ({ views }) => known(views).announced() },
  audit: {
    keys: ['since'],
    list: ({ views, from }) => known(views).audit({ since: from, before: Number.MAX_SAFE_INTEGER }),
  },
} satisfies Record<string, ShownView>;

const viewNames = Object.keys(shownViews) as readonly (keyof typeof shownViews)[];

/** Facts that the command line asks for when it does not have the daemon's file. */
export const daemonOperations: readonly Operation[] = [
  get('daemon', 'describeDaemon', {
    summary: 'The daemon that answers, its database, and the names that other operations take',
    answers: answers('The daemon', daemonKeys),
    answer: ({ views, site: { database, timezone, reports } }) => {
      const { version, problems } = views.status();
      return {
        version,
        database: database(),
        timezone,
        problems: [...problems],
        accounts: [...views.accountIds()],
        rules: views.choices().rules.map(([id]) => id),
        channels: views.channels().map(({ name }) => name),
        reports: [...reports.ids()],
        languages: [...languageIds],
      };
    },
  }),
  get('views/{view}', 'readView', {
    summary:
      'What a command of the same version shows, as the program itself holds it. It changes from version to version: other programs use the other operations. A view takes the parameters that are for it',
    params: { view: z.enum(viewNames, { error: `give ${viewNames.join(', ')}` }) },
    query: {
      account: z.string().default('').describe('For account, readings and explain'),
      since: z.string().optional().describe('For readings and audit; ISO 8601'),
      until: z.string().optional().describe('For readings; exclusive'),
      limit: count(1, maxItems).default(100).describe('For summary: so many accounts in it'),
      all: z.enum(['true', 'false']).default('false').describe('For alerts: resolved ones too'),
    },
    answers: answers('A list of one view or more, null where there is none', {
      items: z.array(z.looseObject({}).nullable()),
    }),
    answer: ({ views, now, params: { view }, query: { since, until, ...query }, context }) => {
      const keys = shownViews[view].keys.map((key) => [key, z.unknown().optional()] as const);
      // A parameter of another view is refused like an unknown one: it was meant to have an effect.
      parseInput(shape(Object.fromEntries(keys)), context.req.query());
      const from = parseInstant(since, 'since', now) ?? 0;
      const to = parseInstant(until, 'until', now) ?? now + 1;
      return written(context, writeList('items', listItems(view, { views, ...query, from, to })));
    },
  }),
  get('reports/{id}', 'readReport', {
    summary: 'A report as it would be sent now',
    params,
    query: { width: count(1, 1000).default(100).describe('Columns of the text') },
    answers: answers('The report', {
      text: z.string().describe('For a terminal'),
      report: z.looseObject({}).describe('As the webhook channel sends it'),
    }),
    answer: async ({ site, params: { id }, query: { width } }) => {
      const { text, report } = required(await site.reports.compose(id, width));
      return { text, report: { ...report } };
    },
  }),
  post('reports/{id}', 'sendReport', {
    summary: 'Sends a report to its channels now; its schedule stays as it is',
    params,
    query: byQuery,
    answers: answers('What became of it on each channel', {
      deliveries: z.array(
        z.strictObject({
          channel: z.string(),
          delivered: z.boolean(),
          reason: z.string().nullable().describe('Why not'),
        }),
      ),
    }),
    answer: async ({ site, params: { id }, door, query: { by } }) => {
      await door.give({ kind: 'report', report: id }, by);
      return { deliveries: [...required(await site.reports.send(id))] };
    },
  }),
];

async function* listItems(view: keyof typeof shownViews, query: ViewQuery): AsyncGenerator<object | null> {
  yield* await shownViews[view].list(query);
}

function required<Found>(found: Found | null): Found {
  if (found === null) throw new RequestError('not_found', refusals.noReport());
  return found;
}
