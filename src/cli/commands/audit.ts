import { weekMs } from '../../domain/time.ts';
import { operatorCommand } from '../backend.ts';
import { jsonOption } from '../command.ts';
import { readInstant } from '../read-options.ts';
import { printRows } from '../terminal/table.ts';
import { formatInstant } from '../terminal/text.ts';

export const auditCommand = operatorCommand({
  name: 'audit',
  summary: 'who did what, when, from where',
  details: `--json prints {"audit":[{"at","by","from","action","account","rule","detail"}]}, newest first, the same as GET /api/v1/audit.`,
  options: {
    since: { value: 'TIME', summary: 'a duration before now (7d) or a date (2026-11-01); default 7d' },
    json: jsonOption,
  },
  async run(context, input, backend) {
    const now = context.clock.now();
    const since = readInstant(input, 'since', { now, timezone: backend.timezone }) ?? now - weekMs;
    const rows = await (await backend.views()).audit(since);
    return printRows(context, input, {
      rows,
      none: 'No action in this time.',
      json: async () => ({ audit: rows.map((await import('../../views/public-json.ts')).auditJson) }),
      columns: [
        { header: `AT (${backend.timezone})`, value: ({ at }) => formatInstant(at, backend.timezone) },
        { header: 'BY', value: ({ by }) => by, minWidth: 8 },
        { header: 'ACTION', value: ({ action }) => action },
        { header: 'ACCOUNT', value: ({ account }) => account ?? '', minWidth: 8 },
        { header: 'RULE', value: ({ rule }) => rule ?? '', minWidth: 8 },
        { header: 'FROM', rank: 3, value: ({ from }) => from ?? '' },
        { header: 'DETAIL', rank: 4, minWidth: 12, value: ({ detail }) => detail },
      ],
    });
  },
});
