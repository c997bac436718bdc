import { createRoute } from '@hono/zod-openapi';
import * as z from 'zod';
import type { ReportDesk } from '../options.ts';
import { RequestError } from '../refusal.ts';
import { type Api, answers } from './operation.ts';

export interface DaemonFacts {
  readonly database: string | null;
  readonly reports: ReportDesk | null;
  readonly timezone: string;
}

export const unknownDaemon: DaemonFacts = { database: null, reports: null, timezone: 'UTC' };

const names = z.array(z.string());
const tags = ['daemon'];
const params = z.object({ id: z.string() });

const describeDaemon = createRoute({
  method: 'get',
  path: '/api/v1/daemon',
  operationId: 'describeDaemon',
  summary: 'The daemon that answers, its database, and the names that other operations take',
  tags,
  responses: answers('The daemon', {
    version: z.string(),
    database: z.string().nullable().meta({ description: 'The id of its database' }),
    timezone: z.string().meta({ description: 'IANA time zone of the configuration' }),
    problems: names.meta({ description: 'What is wrong although it runs' }),
    accounts: names,
    rules: names,
    channels: names,
    reports: names,
  }),
});

const readReport = createRoute({
  method: 'get',
  path: '/api/v1/reports/{id}',
  operationId: 'readReport',
  summary: 'A report as it would be sent now',
  tags,
  request: { params },
  responses: answers('The report', {
    text: z.string().meta({ description: 'For a terminal, 100 columns wide' }),
    report: z.looseObject({}).meta({ description: 'As the webhook channel sends it' }),
  }),
});

const sendReport = createRoute({
  method: 'post',
  path: '/api/v1/reports/{id}',
  operationId: 'sendReport',
  summary: 'Sends a report to its channels now; its schedule stays as it is',
  tags,
  request: { params },
  responses: answers('What became of it on each channel', {
    deliveries: z.array(
      z.strictObject({
        channel: z.string(),
        delivered: z.boolean(),
        reason: z.string().nullable().meta({ description: 'Why not' }),
      }),
    ),
  }),
});

/** What the command line asks a daemon that it has no file of. */
export function addDaemonOperations(api: Api, { database, reports, timezone }: DaemonFacts): void {
  api.openapi(describeDaemon, (context) => {
    const { views } = context.var;
    const { version, problems } = views.status();
    const { rules } = views.choices();
    return context.json(
      {
        version,
        database,
        timezone,
        problems: [...problems],
        accounts: [...views.accountIds()],
        rules: rules.map(([id]) => id),
        channels: views.channels().map(({ name }) => name),
        reports: [...(reports?.ids() ?? [])],
      },
      200,
    );
  });

  api.openapi(readReport, async (context) => {
    const composed = required(await reports?.compose(context.req.valid('param').id));
    return context.json({ text: composed.text, report: { ...composed.payload } }, 200);
  });

  api.openapi(sendReport, async (context) => {
    const deliveries = required(await reports?.send(context.req.valid('param').id));
    return context.json({ deliveries: [...deliveries] }, 200);
  });
}

function required<Found>(found: Found | null | undefined): Found {
  if (found == null) throw new RequestError('not_found', 'The configuration has no report of this id.');
  return found;
}
