import { formatBare, type Micros } from '../../domain/money.ts';
import { ownOf } from '../../domain/own.ts';
import { cleanCurrency, cleanText } from '../../domain/plain-text.ts';
import {
  amountOf,
  type Balance,
  type BalanceDefinition,
  hasBalances,
  type Reading,
} from '../../domain/reading.ts';
import { weekMs } from '../../domain/time.ts';
import { formatHistoryLine, historyHeader } from '../../views/csv.ts';
import type { AccountView } from '../../views/views.ts';
import { balanceName } from '../../wording/quantity-wording.ts';
import { operatorCommand } from '../backend.ts';
import { exitCodes, jsonOption, UsageError } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { readBalance, readInstant, requireKnown } from '../read-options.ts';
import { printJson } from '../terminal/output.ts';
import { startProgress } from '../terminal/progress.ts';
import { type Column, formatTable } from '../terminal/table.ts';
import { displayWidth, formatInstant, wrapToWidth } from '../terminal/text.ts';

const chartHeight = 18;

const chunkLines = 2000;

export const historyCommand = operatorCommand({
  name: 'history',
  summary: 'readings of an account as chart, table, CSV or JSON',
  details: `A chart on a terminal, a table where the output goes elsewhere.

--csv prints RFC 4180 with the header at,sms,voip,currency (the balances of the account): what "replay --input" reads. Times are
ISO 8601 UTC. --json prints {"points":[{"at","sms","voip","currency"}]}, the same as GET /api/v1/accounts/ID/history.`,
  positionals: [{ name: 'ID', summary: 'the account', completes: 'accounts' }],
  options: {
    since: {
      value: 'TIME',
      summary: 'a duration before now (7d) or a date (2026-11-01); default: 7d before --until',
    },
    until: { value: 'TIME', summary: 'likewise; default now' },
    balance: { value: 'NAME', summary: 'what the chart shows; default: the first balance of the account' },
    csv: { summary: 'print CSV' },
    json: jsonOption,
    table: { summary: 'print a table also on a terminal' },
  },
  examples: ['lowwater history otp', 'lowwater history otp --since 30d --csv > otp.csv'],
  async run(context, input, backend) {
    const { timezone } = backend;
    if (input.flag('csv') && input.flag('json')) throw new UsageError('either --csv or --json');
    const account = requireKnown('account', backend.names.accounts, input.positional('ID'));
    const now = context.clock.now();
    const until = readInstant(input, 'until', { now, timezone }) ?? now;
    const since = readInstant(input, 'since', { now, timezone }) ?? until - weekMs;
    if (since >= until) throw new UsageError('--since must be before --until');
    const views = await backend.views();
    const view = await views.account(account);
    const balances = view?.balances ?? [];
    const balance = readBalance(input, balances);
    // The end is exclusive, but a reading of this very millisecond belongs to "until now".
    const readings = await views.readings(account, since, until + 1);
    if (input.flag('json')) {
      const { readingJson } = await import('../../views/account-json.ts');
      await printJson(context, { points: readings.map(readingJson) });
    } else if (input.flag('csv')) await printCsv(context, readings, balances);
    else if (readings.length === 0) {
      const [from, to] = [since, until].map((at) => formatInstant(at, timezone));
      await context.stdout.write(`No readings of ${account} from ${from} to ${to} (${timezone}).\n`);
    } else if (input.flag('table') || !context.stdout.isTerminal)
      await context.stdout.write(
        formatTable({
          columns: tableColumns(balances, balance.id, timezone),
          rows: readings,
          output: context.stdout,
        }),
      );
    else await printChart(context, { account, balance, timezone, readings, since, until, view });
    return exitCodes.ok;
  },
});

async function printCsv(
  { stdout, stderr, clock, signal }: CommandContext,
  readings: readonly Reading[],
  balances: readonly BalanceDefinition[],
): Promise<void> {
  // On a terminal, the printed lines themselves show the progress.
  const progress = stdout.isTerminal ? null : startProgress({ output: stderr, clock, label: 'export' });
  await stdout.write(historyHeader(balances));
  for (let from = 0; from < readings.length && !signal.aborted; from += chunkLines) {
    const chunk = readings
      .slice(from, from + chunkLines)
      .map((reading) => formatHistoryLine(reading, balances));
    await stdout.write(chunk.join(''));
    progress?.update((from + chunk.length) / readings.length);
  }
  progress?.end();
}

/** The columns. If a terminal is too narrow, the currency and then the other balances are dropped. */
function tableColumns(
  balances: readonly BalanceDefinition[],
  shown: Balance,
  timezone: string,
): readonly Column<Reading>[] {
  return [
    { header: `AT (${timezone})`, value: ({ at }) => formatInstant(at, timezone, { seconds: true }) },
    ...balances.map(({ id, label, unit }) => ({
      header: label.toUpperCase(),
      align: 'right' as const,
      ...(id === shown ? {} : { rank: 1 }),
      value: (reading: Reading) =>
        hasBalances(reading, [{ id }]) ? formatBare(amountOf(reading, id), unit ?? reading.currency) : '-',
    })),
    { header: 'CURRENCY', rank: 2, value: ({ currency }) => currency },
  ];
}

interface ChartContent {
  readonly account: string;
  readonly view: AccountView | null;
  readonly balance: BalanceDefinition;
  readonly timezone: string;
  readonly readings: readonly Reading[];
  readonly since: number;
  readonly until: number;
}

async function printChart({ stdout }: CommandContext, content: ChartContent): Promise<void> {
  const { drawChart, layPast } = await import('../terminal/chart.ts');
  const { account, readings, since, until, timezone, view } = content;
  const { id: balance, label, unit } = content.balance;
  const newest = readings.at(-1);
  // Amounts in another currency are not points of this line.
  const drawn = readings.filter(
    ({ currency, balances }) => currency === newest?.currency && ownOf(balances, balance) !== undefined,
  );
  const first = drawn[0];
  // If the history is shorter than the requested time, it fills the chart.
  const from = Math.max(since, first === undefined ? since : Math.min(first.at, until - 60_000));
  const thresholds = ownOf(view?.thresholds, balance) ?? {};
  const wordAmount = (micros: Micros): string => formatBare(micros, unit ?? newest?.currency ?? null);
  const chart = layPast(
    { since: from, until, readings: drawn, balance, thresholds },
    view?.pollIntervalMs ?? 0,
  );
  const lines = drawChart({
    chart,
    timezone,
    width: Math.min(stdout.columns, 160),
    height: chartHeight,
    formatValue: wordAmount,
    style: stdout.style,
  });
  const currency = newest === undefined ? '' : cleanCurrency(unit ?? newest.currency);
  const title = `${cleanText(view?.name ?? account, 80)}: ${balanceName(label.toUpperCase())}`;
  const latest =
    newest !== undefined && hasBalances(newest, [{ id: balance }])
      ? `${wordAmount(amountOf(newest, balance))} ${currency} at ${formatInstant(newest.at, timezone)} (${timezone})`
      : '';
  const names = Object.entries(thresholds).map(([severity, micros]) => `${severity} ${wordAmount(micros)}`);
  const legend =
    names.length === 0
      ? []
      : wrapToWidth(`thresholds: ${names.join(', ')}`, stdout.columns).map(stdout.style.dim);
  await stdout.write(`${[...headingLines(title, latest, stdout), '', ...lines, ...legend].join('\n')}\n`);
}

function headingLines(title: string, latest: string, { columns, style }: CommandContext['stdout']): string[] {
  const whole = latest === '' ? title : `${title}, ${latest}`;
  if (displayWidth(whole) <= columns) return [style.bold(title) + whole.slice(title.length)];
  return [...wrapToWidth(title, columns).map(style.bold), ...wrapToWidth(latest, columns)];
}
