import { formatMoney } from '../../domain/money.ts';
import type { Quantity } from '../../domain/quantity.ts';
import type { AlertView } from '../../views/views.ts';
import { wordQuantity } from '../../wording/quantity-wording.ts';
import { jsonOption } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { operatorCommand } from '../desk.ts';
import { paintSeverity } from '../terminal/output.ts';
import { type Column, printRows } from '../terminal/table.ts';
import { formatInstant, formatShortDuration } from '../terminal/time.ts';
import { warnOfOldData } from '../warn-of-old-data.ts';

export const alertsCommand = operatorCommand({
  name: 'alerts',
  summary: 'alerts that are pending or firing',
  details: `--json prints {"alerts":[{"account","rule","type","balance","severity","state","since","resolvedAt","value","threshold",
"forecast","summary","acknowledged","silenced","inhibited","flapping","incident"}]}, the same as GET /api/v1/alerts.`,
  options: {
    all: { summary: 'also the resolved ones that are still stored' },
    json: jsonOption,
  },
  async run(context, input, { views: open, timezone, ...desk }) {
    const views = await open();
    await warnOfOldData(context, desk, views);
    const rows = await views.alerts({ all: input.flag('all') });
    const json = async () => ({ alerts: rows.map((await import('../../views/public-json.ts')).alertJson) });
    const none = 'No alert is pending or firing.';
    return printRows(context, input, { rows, none, json, columns: alertColumns(context, timezone) });
  },
});

function alertColumns({ stdout, clock }: CommandContext, timezone: string): readonly Column<AlertView>[] {
  const { style } = stdout;
  const now = clock.now();
  return [
    {
      header: 'STATE',
      value: ({ state }) => state,
      paint: ({ state }, cell) => (state === 'firing' ? style.bold(cell) : cell),
    },
    {
      header: 'SEVERITY',
      value: ({ severity }) => severity,
      paint: ({ severity }, cell) => paintSeverity(style, severity, cell),
    },
    { header: 'ACCOUNT', value: ({ account }) => account, minWidth: 10 },
    { header: 'RULE', value: ({ rule }) => rule, minWidth: 10 },
    { header: 'VALUE', align: 'right', rank: 1, value: ({ value }) => cellText(value) },
    { header: 'THRESHOLD', align: 'right', rank: 3, value: ({ threshold }) => cellText(threshold) },
    { header: `SINCE (${timezone})`, rank: 4, value: ({ since }) => formatInstant(since, timezone) },
    { header: 'LASTS', align: 'right', rank: 2, value: (alert) => lengthOf(alert, now) },
    { header: 'NOTE', rank: 5, minWidth: 12, value: describeNote },
  ];
}

/** What merely happened, such as a top-up, has no length. */
function lengthOf({ state, since, resolvedAt }: AlertView, now: number): string {
  if (state === 'resolved' && resolvedAt === null) return '-';
  return formatShortDuration((resolvedAt ?? now) - since);
}

function describeNote(alert: AlertView): string {
  const { acknowledged } = alert;
  const comment = acknowledged?.comment ? `: ${acknowledged.comment}` : '';
  const taken = acknowledged === null ? [] : [`acknowledged by ${acknowledged.by}${comment}`];
  return [...taken, ...wordSuppression(alert)].join(', ');
}

/** What keeps people from hearing of it. */
export function wordSuppression({ silenced, inhibited, flapping }: AlertView): readonly string[] {
  return [
    ...(silenced ? ['silenced'] : []),
    ...(inhibited ? ['covered by a worse alert'] : []),
    ...(flapping ? ['flapping'] : []),
  ];
}

/** Money without its currency, which stands in `status`: columns compare better. */
function cellText(quantity: Quantity | null): string {
  if (quantity === null) return '';
  return quantity.unit === 'money'
    ? formatMoney(quantity.micros)
    : wordQuantity(quantity, { timezone: 'UTC', now: 0, currency: null });
}
