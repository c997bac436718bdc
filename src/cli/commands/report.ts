import { cleanText } from '../../domain/plain-text.ts';
import { CommandError, exitCodes, UsageError } from '../command.ts';
import type { CommandContext, ReportOrder, SentReport } from '../context.ts';
import { request } from '../daemon/remote-views.ts';
import { type Desk, operatorCommand } from '../desk.ts';
import { suggest } from '../read-options.ts';
import { printJson } from '../terminal/output.ts';

export const reportCommand = operatorCommand({
  name: 'report',
  summary: 'send or print a report now',
  details: `Covers the time since its last scheduled run. Its schedule stays as it is.
--json prints it as the webhook channel sends it: {"type":"lowwater.report","timestamp","id","data":{"report","headline","since",
"until","accounts":[…],"truncated"}}.`,
  positionals: [{ name: 'ID', summary: 'the report, as the configuration names it', completes: 'reports' }],
  options: {
    print: { summary: 'print it instead of sending it' },
    json: { summary: 'print it as JSON instead of sending it' },
  },
  examples: ['lowwater report weekly --print'],
  async run(context, input, desk) {
    const id = requireReport(desk.names.reports, input.positional('ID'));
    if (input.flag('json') || input.flag('print')) {
      const { text, payload } = await readReport(context, desk, id);
      if (input.flag('json')) await printJson(context, payload);
      else await context.stdout.write(text);
      return exitCodes.ok;
    }
    const failed: string[] = [];
    for (const { channel, delivered, reason } of await sendReport(context, desk, id)) {
      if (delivered) await context.stdout.write(`${id} is sent to ${channel}.\n`);
      else failed.push(`${channel}: ${cleanText(reason ?? '', 300)}`);
    }
    if (failed.length > 0) throw new CommandError(`${id} could not be sent to ${failed.join('; ')}`);
    return exitCodes.ok;
  },
});

async function readReport(
  context: CommandContext,
  desk: Desk,
  id: string,
): Promise<{ readonly text: string; readonly payload: object }> {
  const { daemon } = desk;
  if (daemon === null) return context.rooms.renderReport(orderOf(context, desk, id));
  const path = `/api/v1/reports/${encodeURIComponent(id)}`;
  const { text, report } = await request<{ text: string; report: object }>(daemon, { method: 'GET', path });
  return { text, payload: report };
}

async function sendReport(context: CommandContext, desk: Desk, id: string): Promise<readonly SentReport[]> {
  const { daemon } = desk;
  if (daemon === null) return context.rooms.sendReport(orderOf(context, desk, id));
  const path = `/api/v1/reports/${encodeURIComponent(id)}`;
  return (await request<{ deliveries: readonly SentReport[] }>(daemon, { method: 'POST', path })).deliveries;
}

function orderOf({ signal }: CommandContext, { settings }: Desk, id: string): ReportOrder {
  const report = settings?.reports.find((candidate) => candidate.id === id);
  if (settings === null || report === undefined) throw new TypeError('a report without its settings');
  return { settings, report, signal };
}

function requireReport(known: readonly string[], id: string): string {
  if (known.includes(id)) return id;
  throw new UsageError(
    `there is no report "${id}"`,
    known.length === 0 ? 'the configuration has none' : suggest(id, known),
  );
}
