import { nobodyOwns } from '../../cluster/cluster-status.ts';
import { dayMs } from '../../domain/duration.ts';
import type { Runway } from '../../domain/message.ts';
import { formatNearMoment } from '../../domain/moment.ts';
import { formatBare } from '../../domain/money.ts';
import { cleanText, plural } from '../../domain/plain-text.ts';
import { type Balance, amountOf } from '../../domain/reading.ts';
import { type Severity, isWorse } from '../../domain/severity.ts';
import { type AccountView, leadingBalance } from '../../views/views.ts';
import { commonBalances, endOf, formatBareComputed, roughRunway, wordInterval } from '../../wording/quantity-wording.ts';
import { drawSparkline } from '../../wording/sparkline.ts';
import { exitCodes, jsonOption } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { type Desk, operatorCommand } from '../desk.ts';
import { wrapToWidth } from '../terminal/display-width.ts';
import { type Output, type Style, layoutWidth, paintSeverity, printJson } from '../terminal/output.ts';
import { type Column, formatTable } from '../terminal/table.ts';
import { formatShortDuration } from '../terminal/time.ts';
import { warnOfOldData } from '../warn-of-old-data.ts';
import { type DescribedCluster, describeCluster, lookAtOwn } from './cluster.ts';

export const statusCommand = operatorCommand({
  name: 'status',
  summary: 'accounts with balance, burn rate, runway and state',
  details: `Asks the running daemon, else reads the database; polls nothing. The account that runs out first comes first. What is
wrong with the daemon, and a database that no daemon fills, is said on standard error.

--json prints {"accounts":[{"id","name","labels","currency","outcome","failure","polledAt","readAt","balances",
"burnPerDay","runwaySeconds","forecast","consecutiveFailures","backoffUntil","usageHeaders","severity","firing","pending"}]}, the
same as GET /api/v1/accounts: money as decimal strings, times in ISO 8601 UTC, null where unknown.`,
  options: {
    json: jsonOption,
    line: { summary: 'one short line for bars and prompts: the worst state, and what runs out first' },
  },
  examples: [
    'lowwater status',
    'lowwater status --line',
    `lowwater status --json | jq -r '.accounts[].balances.sms'`,
  ],
  async run(context, input, desk) {
    const views = await desk.views();
    const accounts = (await views.accounts()).toSorted(byRunway);
    const cluster = await lookAtCluster(context, desk);
    const isOld = await warnOfOldData(context, desk, views);
    for (const problem of desk.daemon?.facts?.problems ?? [])
      await context.stderr.write(`warning: ${cleanText(problem, 500)}\n`);
    if (input.flag('json')) {
      const { accountJson } = await import('../../views/public-json.ts');
      await printJson(context, {
        accounts: accounts.map(accountJson),
        ...(cluster === null ? {} : { cluster }),
      });
      return exitCodes.ok;
    }
    if (input.flag('line')) {
      await context.stdout.write(
        `${formatLine(accounts, { ...context, isOld, now: context.clock.now() })}\n`,
      );
      return exitCodes.ok;
    }
    const { timezone } = desk;
    await context.stdout.write(
      formatStatus(accounts, { stdout: context.stdout, timezone, now: context.clock.now() }),
    );
    if (cluster !== null) await context.stdout.write(`${wordCluster(cluster)}\n`);
    return exitCodes.ok;
  },
});

/** The daemons that share the database; null where it is one daemon's own. Says on standard error what is wrong with them. */
async function lookAtCluster(
  context: CommandContext,
  { settings, isComplete }: Desk,
): Promise<DescribedCluster | null> {
  const postgres = settings?.storage.postgres;
  if (settings === null || postgres === undefined || !isComplete) return null;
  const seen = await lookAtOwn(context, settings, postgres);
  const cluster = describeCluster(seen);
  const { owner } = cluster;
  const held = seen.members.find(({ incarnation }) => incarnation === seen.owner)?.configHash;
  if (owner === null) await context.stderr.write(`warning: ${nobodyOwns}\n`);
  else if (held !== seen.configHash)
    await context.stderr.write(
      `warning: the configuration here is not that of ${owner}, which owns the accounts\n`,
    );
  for (const { node, sameConfiguration } of cluster.members)
    if (sameConfiguration === false)
      await context.stderr.write(
        `warning: the configuration of ${node}, which stands by, is not that of ${owner}\n`,
      );
  return cluster;
}

/** `north owns the accounts (epoch 3), south stands by`. */
function wordCluster({ owner, epoch, members }: DescribedCluster): string {
  const others = members.filter(({ role }) => role === 'standby').map(({ node }) => node);
  const clusterStatus =
    others.length === 0
      ? 'nobody stands by'
      : `${others.join(' and ')} ${others.length === 1 ? 'stands' : 'stand'} by`;
  return `${owner === null ? 'nobody owns the accounts' : `${owner} owns the accounts (epoch ${epoch})`}, ${clusterStatus}`;
}

/** `CRITICAL 2 alerts firing, otp lasts 5h`. Where anything may be unknown it is not OK. */
function formatLine(
  accounts: readonly AccountView[],
  frame: { readonly stdout: Output; readonly isOld: boolean; readonly now: number },
): string {
  const { style } = frame.stdout;
  const worst = accounts.reduce<Severity | null>(
    (worst, account) =>
      account.worst !== null && (worst === null || isWorse(account.worst, worst)) ? account.worst : worst,
    null,
  );
  const isKnown = !frame.isOld && accounts.every(({ outcome }) => outcome === 'ok');
  const word = (isKnown ? (worst ?? 'ok') : (worst ?? 'unknown')).toUpperCase();
  const [first] = accounts;
  const runway = first === undefined ? '-' : runwayOf(first, frame.now);
  const parts = [
    ...(frame.isOld ? ['old readings'] : []),
    ...summarise(accounts),
    ...(first === undefined || runway === '-' ? [] : [`${cleanText(first.id, 63)} lasts ${runway}`]),
  ];
  const paint =
    worst === null
      ? isKnown
        ? style.green
        : style.yellow
      : (text: string) => paintSeverity(style, worst, text);
  return `${paint(word)} ${parts.join(', ')}`;
}

/** The table of the accounts in their order, with a line that sums them up; as wide as the terminal at most. */
export function formatStatus(
  accounts: readonly AccountView[],
  { stdout, timezone, now }: { readonly stdout: Output; readonly timezone: string; readonly now: number },
): string {
  const { style } = stdout;
  const table = formatTable({
    columns: statusColumns({ accounts, now, timezone, symbols: stdout.isTerminal, style }),
    rows: accounts,
    output: stdout,
  });
  return `${table}\n${wrapToWidth(summarise(accounts).join(', '), layoutWidth(stdout)).join('\n')}\n`;
}

function statusColumns(frame: {
  readonly accounts: readonly AccountView[];
  readonly now: number;
  readonly timezone: string;
  readonly symbols: boolean;
  readonly style: Style;
}): Column<AccountView>[] {
  const { accounts, now, timezone, symbols, style } = frame;
  const balances = commonBalances(accounts.map(({ balances }) => balances));
  return [
    {
      header: 'STATE',
      value: (account) => (symbols ? `${stateOf(account).symbol} ` : '') + stateOf(account).word,
      paint: (account, cell) => stateOf(account).paint(style, cell),
    },
    { header: 'ACCOUNT', value: (account) => account.name, minWidth: 12 },
    ...(balances === null
      ? [{ header: 'BALANCES', value: wordBalances }]
      : balances.map(({ id, label }, place) => ({
          header: label.toUpperCase(),
          align: 'right' as const,
          ...(place === 0 ? {} : { rank: 3 }),
          value: (account: AccountView) => moneyOf(account, id),
          paint: paintNegative(style, id),
        }))),
    { header: 'CUR', rank: 4, value: (account) => account.currency ?? '' },
    ...(symbols ? [sparkColumn(now, balances?.[0]?.label)] : []),
    {
      header: 'BURN/DAY',
      align: 'right',
      rank: 2,
      value: (account) => {
        const burn = pressing(account)?.burnPerDay ?? null;
        return burn === null ? '-' : formatBareComputed(burn, account.currency);
      },
    },
    { header: 'RUNWAY', align: 'right', rank: 1, value: (account) => runwayOf(account, now) },
    { header: `EMPTY (${timezone})`, rank: 6, value: (account) => wordEmpty(pressing(account), frame) },
    {
      header: 'READ',
      align: 'right',
      rank: 5,
      value: (account) =>
        account.readAt === null ? 'never' : `${formatShortDuration(now - account.readAt)} ago`,
    },
  ];
}

/** Of the first balance of each account. */
function sparkColumn(now: number, label?: string): Column<AccountView> {
  return {
    header: `LAST 24 H${label === undefined ? '' : ` (${label.toUpperCase()})`}`,
    rank: 7,
    drawn: true,
    value: ({ day, balances: [first] }) =>
      drawSparkline({
        points: day.flatMap(({ at, balances }) => {
          const value = balances[first?.id ?? ''];
          return value === undefined ? [] : [{ at, value }];
        }),
        since: now - dayMs,
        until: now + 1,
        width: 24,
      }),
  };
}

interface State {
  readonly word: string;
  readonly symbol: string;
  paint(style: Style, text: string): string;
}

function stateOf(account: AccountView): State {
  const { worst, outcome } = account;
  if (worst !== null) {
    return {
      word: worst,
      symbol: worst === 'info' ? 'ℹ' : '▲',
      paint: (style, text) => paintSeverity(style, worst, text),
    };
  }
  if (outcome === null) return { word: 'waiting', symbol: '…', paint: (style, text) => style.dim(text) };
  if (outcome !== 'ok') return { word: outcome, symbol: '✗', paint: (style, text) => style.yellow(text) };
  return { word: 'ok', symbol: '✓', paint: (style, text) => style.green(text) };
}

function moneyOf(account: AccountView, balance: Balance): string {
  return account.reading === null ? '-' : formatBare(amountOf(account.reading, balance), account.currency);
}

/** `SMS 42.10, VoIP 0.00`, where accounts of several providers have different balances. */
function wordBalances(account: AccountView): string {
  return account.balances.map(({ id, label }) => `${label} ${moneyOf(account, id)}`).join(', ');
}

function paintNegative(style: Style, balance: Balance): (account: AccountView, cell: string) => string {
  return (account, cell) =>
    account.reading !== null && amountOf(account.reading, balance) < 0 ? style.red(cell) : cell;
}

/** The outlook of the balance that ends first. */
function pressing(account: AccountView): Runway | null {
  return account.runways[leadingBalance(account)] ?? null;
}

/** `3d (2d-5d)`: the median, and the 80 % range. */
function runwayOf(account: AccountView, now: number): string {
  const { runwayMs = null, forecast = null } = pressing(account) ?? {};
  if (runwayMs === null) return '-';
  const lasts = (ms: number): string => roughRunway(ms, formatShortDuration);
  const median = lasts(runwayMs);
  if (runwayMs === 0 || forecast?.earliest == null) return median;
  const from = lasts(forecast.earliest - now);
  const until = forecast.latest === null ? '..' : lasts(forecast.latest - now);
  if (from === median && until === median) return median;
  return `${median} (${from}-${until})`;
}

/** `Thu 14:00, between Wed 22:00 and Fri 09:00`. */
function wordEmpty(
  runway: Runway | null,
  frame: { readonly timezone: string; readonly now: number },
): string {
  const emptyAt = endOf(runway, frame.now);
  if (emptyAt === null) return '-';
  const moment = (at: number): string => formatNearMoment(at, frame);
  const interval = wordInterval(runway?.forecast ?? null, { now: frame.now, moment });
  return interval === null ? moment(emptyAt) : `${moment(emptyAt)}, ${interval}`;
}

function byRunway(left: AccountView, right: AccountView): number {
  const runway = (account: AccountView) => pressing(account)?.runwayMs ?? Number.MAX_VALUE;
  return runway(left) - runway(right) || (left.id < right.id ? -1 : 1);
}

function summarise(accounts: readonly AccountView[]): readonly string[] {
  const firing = accounts.reduce((sum, account) => sum + account.firing, 0);
  const failing = accounts.filter(({ outcome }) => outcome !== null && outcome !== 'ok').length;
  const parts = [
    plural(accounts.length, 'account'),
    firing === 0 ? 'nothing fires' : `${plural(firing, 'alert')} firing`,
  ];
  if (failing > 0) parts.push(`${failing} cannot be read`);
  return parts;
}
