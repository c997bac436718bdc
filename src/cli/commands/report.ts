import { cleanText } from '../../domain/plain-text.ts';
import type { ReportDelivery } from '../../http/options.ts';
import type { ReportOrder } from '../act-here.ts';
import { CommandError, exitCodes, UsageError } from '../command.ts';
import type { CommandContext } from '../context.ts';
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
  if (daemon === null) {
    const { renderReport } = await import('../act-here.ts');
    return reportHere(context, desk, id, (order) => renderReport(order, process.stdout.columns || undefined));
  }
  const path = `/api/v1/reports/${encodeURIComponent(id)}`;
  const { text, report } = await request<{ text: string; report: object }>(daemon, 'GET', path);
  return { text, payload: report };
}

async function sendReport(
  context: CommandContext,
  desk: Desk,
  id: string,
): Promise<readonly ReportDelivery[]> {
  const { daemon } = desk;
  if (daemon === null) {
    const here = await import('../act-here.ts');
    return reportHere(context, desk, id, (order) => here.sendReport(order, context.signal));
  }
  const path = `/api/v1/reports/${encodeURIComponent(id)}`;
  return (await request<{ deliveries: readonly ReportDelivery[] }>(daemon, 'POST', path)).deliveries;
}

async function reportHere<T>(
  context: CommandContext,
  { settings }: Desk,
  id: string,
  use: (order: ReportOrder) => Promise<T>,
): Promise<T> {
  const report = settings?.reports.find((candidate) => candidate.id === id);
  if (settings === null || report === undefined) throw new TypeError('a report without its settings');
  const { withReader } = await import('../act-here.ts');
  return withReader(context, settings, (reader) => use({ settings, report, reader }));
}

function requireReport(known: readonly string[], id: string): string {
  if (known.includes(id)) return id;
  throw new UsageError(
    `there is no report "${id}"`,
    known.length === 0 ? 'the configuration has none' : suggest(id, known),
  );
}
