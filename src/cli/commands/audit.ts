import { weekMs } from '../../domain/duration.ts';
import type { AuditEntry } from '../../domain/operator.ts';
import { exitCodes, jsonOption } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { operatorCommand } from '../desk.ts';
import { readInstant } from '../read-options.ts';
import { printJson } from '../terminal/output.ts';
import { formatTable } from '../terminal/table.ts';
import { formatInstant } from '../terminal/time.ts';

export const auditCommand = operatorCommand({
  name: 'audit',
  summary: 'who did what, when, from where',
  details: `--json prints {"audit":[{"at","by","from","action","account","rule","detail"}]}, newest first, the same as GET /api/v1/audit.`,
  options: {
    since: { value: 'TIME', summary: 'a duration before now (7d) or a date (2026-11-01); default 7d' },
    json: jsonOption,
  },
  async run(context, input, desk) {
    const now = context.clock.now();
    const since = readInstant(input, 'since', { now, timezone: desk.timezone }) ?? now - weekMs;
    const entries = await (await desk.views()).audit(since);
    if (input.flag('json')) {
      const { auditJson } = await import('../../views/public-json.ts');
      await printJson(context, { audit: entries.map(auditJson) });
    } else if (entries.length === 0) await context.stdout.write('No action in this time.\n');
    else await context.stdout.write(formatAudit(entries, context, desk.timezone));
    return exitCodes.ok;
  },
});

function formatAudit(entries: readonly AuditEntry[], { stdout }: CommandContext, timezone: string): string {
  return formatTable<AuditEntry>({
    columns: [
      { header: `AT (${timezone})`, value: ({ at }) => formatInstant(at, timezone) },
      { header: 'BY', value: ({ by }) => by, minWidth: 8 },
      { header: 'ACTION', value: ({ action }) => action },
      { header: 'ACCOUNT', value: ({ account }) => account ?? '', minWidth: 8 },
      { header: 'RULE', value: ({ rule }) => rule ?? '', minWidth: 8 },
      { header: 'FROM', rank: 3, value: ({ from }) => from ?? '' },
      { header: 'DETAIL', rank: 4, minWidth: 12, value: ({ detail }) => detail },
    ],
    rows: entries,
    output: stdout,
  });
}
