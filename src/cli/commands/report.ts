import { cleanText } from '../../domain/plain-text.ts';
import type { ReportSettings, Settings } from '../../domain/settings.ts';
import { type Command, CommandError, exitCodes, UsageError } from '../command.ts';
import { loadConfiguration } from '../load-configuration.ts';
import { suggest } from '../read-options.ts';
import { printJson } from '../terminal/output.ts';

export const reportCommand: Command = {
  name: 'report',
  summary: 'send or print a report now',
  details: `Covers the time since its last scheduled run. Its schedule stays as it is.
--json prints it as the webhook channel sends it: {"type":"lowwater.report","timestamp","id","data":{"report","headline","since",
"until","accounts":[…],"truncated"}}.`,
  positionals: [{ name: 'ID', summary: 'the report, as the configuration names it' }],
  options: {
    print: { summary: 'print it instead of sending it' },
    json: { summary: 'print it as JSON instead of sending it' },
  },
  examples: ['lowwater report weekly --print'],
  run: async (context, input) => {
    const { settings } = await loadConfiguration(context, input);
    const id = input.positional('ID');
    const report = requireReport(settings, id);
    const order = { settings, report, signal: context.signal };
    if (input.flag('json')) {
      await printJson(context, await context.rooms.describeReport(order));
      return exitCodes.ok;
    }
    if (input.flag('print')) {
      await context.stdout.write(await context.rooms.renderReport(order));
      return exitCodes.ok;
    }
    const failed: string[] = [];
    for (const { channel, delivery } of await context.rooms.sendReport(order)) {
      if (delivery.kind === 'delivered') await context.stdout.write(`${id} is sent to ${channel}.\n`);
      else failed.push(`${channel}: ${cleanText(delivery.reason, 300)}`);
    }
    if (failed.length > 0) throw new CommandError(`${id} could not be sent to ${failed.join('; ')}`);
    return exitCodes.ok;
  },
};

function requireReport({ reports }: Settings, id: string): ReportSettings {
  const report = reports.find((candidate) => candidate.id === id);
  if (report !== undefined) return report;
  const known = reports.map((candidate) => candidate.id);
  throw new UsageError(
    `there is no report "${id}"`,
    known.length === 0 ? 'the configuration has none' : suggest(id, known),
  );
}
