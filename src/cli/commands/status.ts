import { nobodyOwns } from '../../cluster/cluster-status.ts';
import { dayMs } from '../../domain/duration.ts';
import type { Runway } from '../../domain/message.ts';
import { formatNearMoment } from '../../domain/moment.ts';
import { formatBare } from '../../domain/money.ts';
import { cleanText, plural } from '../../domain/plain-text.ts';
import { amountOf, type Balance } from '../../domain/reading.ts';
import { severities } from '../../domain/severity.ts';
import type { AccountView } from '../../views/views.ts';
import {
  commonBalances,
  endOf,
  formatBareComputed,
  leadingBalance,
  roughRunway,
  wordEmptyAt,
} from '../../wording/quantity-wording.ts';
import { drawSparkline } from '../../wording/sparkline.ts';
import { exitCodes, jsonOption } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { type Desk, operatorCommand, warnOfOldData } from '../desk.ts';
import { layoutWidth, type Output, paintSeverity, printJson, type Style } from '../terminal/output.ts';
import { type Column, formatTable } from '../terminal/table.ts';
import { formatShortDuration, wrapToWidth } from '../terminal/text.ts';
import { type DescribedCluster, describeCluster, lookAt } from './cluster.ts';

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
    const { stdout, clock } = context;
    const frame = { stdout, timezone: desk.timezone, now: clock.now() };
    if (input.flag('json')) {
      const { accountJson } = await import('../../views/public-json.ts');
      await printJson(context, {
        accounts: accounts.map(accountJson),
        ...(cluster === null ? {} : { cluster }),
      });
    } else if (input.flag('line')) await stdout.write(`${formatLine(accounts, { ...frame, isOld })}\n`);
    else
      await stdout.write(
        formatStatus(accounts, frame) + (cluster === null ? '' : `${wordCluster(cluster)}\n`),
      );
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
  const { hashSettings } = await import('../../config/hash-settings.ts');
  const seen = await lookAt(context, postgres);
  const cluster = describeCluster(seen);
  const { owner } = cluster;
  const held = seen.members.find(({ incarnation }) => incarnation === seen.owner)?.configHash;
  const warn = (text: string) => context.stderr.write(`warning: ${text}\n`);
  if (owner === null) await warn(nobodyOwns);
  else if (held !== (await hashSettings(settings, postgres)))
    await warn(`the configuration here is not that of ${owner}, which owns the accounts`);
  for (const { node, sameConfiguration } of cluster.members)
    if (sameConfiguration === false)
      await warn(`the configuration of ${node}, which stands by, is not that of ${owner}`);
  return cluster;
}

/** `north owns the accounts (epoch 3), south stands by`. */
function wordCluster({ owner, epoch, members }: DescribedCluster): string {
  const others = members.filter(({ role }) => role === 'standby').map(({ node }) => node);
  const who = owner === null ? 'nobody owns the accounts' : `${owner} owns the accounts (epoch ${epoch})`;
  return `${who}, ${others.join(' and ') || 'nobody'} ${others.length > 1 ? 'stand' : 'stands'} by`;
}

/** `CRITICAL 2 alerts firing, otp lasts 5h`. Where anything may be unknown it is not OK. */
function formatLine(
  accounts: readonly AccountView[],
  { stdout, isOld, now }: { readonly stdout: Output; readonly isOld: boolean; readonly now: number },
): string {
  const worst = severities.findLast((severity) => accounts.some((account) => account.worst === severity));
  const isKnown = !isOld && accounts.every(({ outcome }) => outcome === 'ok');
  const word = (worst ?? (isKnown ? 'ok' : 'unknown')).toUpperCase();
  const [first] = accounts;
  const runway = first === undefined ? '-' : runwayOf(first, now);
  const parts = [
    ...(isOld ? ['old readings'] : []),
    ...summarise(accounts),
    ...(first === undefined || runway === '-' ? [] : [`${cleanText(first.id, 63)} lasts ${runway}`]),
  ];
  const { style } = stdout;
  const calm = isKnown ? style.green : style.yellow;
  return `${worst === undefined ? calm(word) : paintSeverity(style, worst, word)} ${parts.join(', ')}`;
}

/** The table of the accounts in their order, with a line that sums them up; as wide as the terminal at most. */
export function formatStatus(
  accounts: readonly AccountView[],
  frame: { readonly stdout: Output; readonly timezone: string; readonly now: number },
): string {
  const { stdout } = frame;
  const table = formatTable({ columns: statusColumns(accounts, frame), rows: accounts, output: stdout });
  return `${table}\n${wrapToWidth(summarise(accounts).join(', '), layoutWidth(stdout)).join('\n')}\n`;
}

function statusColumns(
  accounts: readonly AccountView[],
  frame: { readonly stdout: Output; readonly timezone: string; readonly now: number },
): Column<AccountView>[] {
  const { now, timezone } = frame;
  const { style, isTerminal: symbols } = frame.stdout;
  const balances = commonBalances(accounts.map(({ balances }) => balances));
  return [
    {
      header: 'STATE',
      value: (account) =>
        (symbols ? `${stateOf(account, style).symbol} ` : '') + stateOf(account, style).word,
      paint: (account, cell) => stateOf(account, style).paint(cell),
    },
    { header: 'ACCOUNT', value: (account) => account.name, minWidth: 12 },
    ...(balances === null
      ? [{ header: 'BALANCES', value: wordBalances }]
      : balances.map(({ id, label }, place) => ({
          header: label.toUpperCase(),
          align: 'right' as const,
          ...(place === 0 ? {} : { rank: 3 }),
          value: (account: AccountView) => moneyOf(account, id),
          paint: (account: AccountView, cell: string) =>
            account.reading !== null && amountOf(account.reading, id) < 0 ? style.red(cell) : cell,
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

/** In a word, with a symbol for it and how it is painted. */
function stateOf({ worst, outcome }: AccountView, style: Style) {
  if (worst !== null) {
    const paint = (text: string) => paintSeverity(style, worst, text);
    return { word: worst, symbol: worst === 'info' ? 'ℹ' : '▲', paint };
  }
  if (outcome === null) return { word: 'waiting', symbol: '…', paint: style.dim };
  return outcome === 'ok'
    ? { word: 'ok', symbol: '✓', paint: style.green }
    : { word: outcome, symbol: '✗', paint: style.yellow };
}

function moneyOf(account: AccountView, balance: Balance): string {
  return account.reading === null ? '-' : formatBare(amountOf(account.reading, balance), account.currency);
}

/** `SMS 42.10, VoIP 0.00`, where accounts of several providers have different balances. */
function wordBalances(account: AccountView): string {
  return account.balances.map(({ id, label }) => `${label} ${moneyOf(account, id)}`).join(', ');
}

/** The runway of the balance that ends first. */
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
  return wordEmptyAt(emptyAt, runway?.forecast ?? null, { now: frame.now, moment });
}

function byRunway(left: AccountView, right: AccountView): number {
  const runway = (account: AccountView) => pressing(account)?.runwayMs ?? Number.MAX_VALUE;
  return runway(left) - runway(right) || (left.id < right.id ? -1 : 1);
}

function summarise(accounts: readonly AccountView[]): readonly string[] {
  const firing = accounts.reduce((sum, account) => sum + account.firing, 0);
  const failing = accounts.filter(({ outcome }) => outcome !== null && outcome !== 'ok').length;
  return [
    plural(accounts.length, 'account'),
    firing === 0 ? 'nothing fires' : `${plural(firing, 'alert')} firing`,
    ...(failing > 0 ? [`${failing} cannot be read`] : []),
  ];
}
