import { nobodyOwns } from '../../cluster/cluster-status.ts';
import { haveSameConfiguration } from '../../cluster/compare-configurations.ts';
import type { Runway } from '../../domain/message.ts';
import { formatAmount, formatBare, type Micros } from '../../domain/money.ts';
import { StorageError } from '../../domain/operator-error.ts';
import { cleanText, plural } from '../../domain/plain-text.ts';
import { amountOf, type Balance, unitOf } from '../../domain/reading.ts';
import { isWorse, type Severity } from '../../domain/severity.ts';
import { dayMs } from '../../domain/time.ts';
import { type AccountSummary, isEndingSoon, summarize, wordEndingSoon } from '../../views/account-summary.ts';
import type { BriefAccount } from '../../views/views.ts';
import { endOf, sayEmptyAt, sayLength } from '../../wording/forecast-wording.ts';
import { english } from '../../wording/language.ts';
import { sayNearMoment } from '../../wording/moments.ts';
import { commonBalances, computed, leadingBalance } from '../../wording/quantity-wording.ts';
import { drawSparkline } from '../../wording/sparkline.ts';
import { type Backend, operatorCommand, warnOfOldData } from '../backend.ts';
import { exitCodes, jsonOption } from '../command.ts';
import type { CommandContext } from '../context.ts';
import type { OperatorViews } from '../daemon/remote-views.ts';
import { lookAt, programOf } from '../open-reader.ts';
import { layoutWidth, type Output, paintSeverity, printJson, type Style } from '../terminal/output.ts';
import { type Column, formatTable } from '../terminal/table.ts';
import { formatShortDuration, formatShortLength, wrapToWidth } from '../terminal/text.ts';
import { type DescribedCluster, describeCluster } from './cluster.ts';

type ShownAccount = AccountSummary['shown'][number];

interface Frame {
  readonly stdout: Output;
  readonly timezone: string;
  readonly now: number;
}

/** The most accounts on a terminal: a person reads no more at once. Programs get all of them. */
const shownOnTerminal = 100;

export const statusCommand = operatorCommand({
  name: 'status',
  summary: 'accounts with balance, burn rate, runway and state',
  details: `Asks the running daemon, else reads the database; polls nothing. The account that runs out first comes first. Of more than
${shownOnTerminal} accounts a terminal shows those that need somebody first; a pipe or a file gets all. What is
wrong with the daemon, and a database that no daemon fills, is said on standard error.

--json prints {"accounts":[{"id","name","labels","currency","outcome","failure","polledAt","readAt","balances","units",
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
  async run(context, input, backend) {
    const views = await backend.views();
    const { stdout, clock } = context;
    const isWhole = input.flag('json') || (!input.flag('line') && !stdout.isTerminal);
    const summary = await withUnnamed(
      views,
      await (isWhole ? summarize([await views.accounts()], clock.now()) : views.summary(shownOnTerminal)),
    );
    const cluster = await lookAtCluster(context, backend);
    const isOld = await warnOfOldData(context, backend, views);
    const problems = backend.daemon?.facts?.problems ?? [];
    const frame = { stdout, timezone: backend.timezone, now: clock.now() };
    if (input.flag('json')) {
      const { accountJson } = await import('../../views/account-json.ts');
      await printJson(context, {
        accounts: summary.shown.map(accountJson),
        ...(cluster === null ? {} : { cluster }),
      });
    } else if (input.flag('line'))
      await stdout.write(`${formatLine(summary, { ...frame, isOld, isTroubled: problems.length > 0 })}\n`);
    else
      await stdout.write(
        formatStatus(summary, frame) + (cluster === null ? '' : `${wordCluster(cluster)}\n`),
      );
    return exitCodes.ok;
  },
});

/** Adds accounts that only the database names, as unreadable, and their firing alerts: a faulty configuration must not look like an all-clear. */
async function withUnnamed(views: OperatorViews, summary: AccountSummary): Promise<AccountSummary> {
  const unnamed = new Set(views.unnamed);
  if (unnamed.size === 0) return summary;
  const firing = (await views.alerts({ all: false })).filter(
    ({ account, state }) => state === 'firing' && unnamed.has(account),
  );
  const worst = firing.reduce(
    (worse: Severity | null, { severity }) => (worse === null || isWorse(severity, worse) ? severity : worse),
    summary.worst,
  );
  const failing = summary.failing + unnamed.size;
  return { ...summary, worst, failing, firing: summary.firing + firing.length };
}

/** The daemons that share the database; null for a database of a single daemon. Warns of their problems on standard error. */
async function lookAtCluster(context: CommandContext, { settings, lost }: Backend) {
  const postgres = settings?.storage.postgres;
  if (settings === null || postgres === undefined || lost.size > 0) return null;
  const { hashSettings } = await import('../../config/hash-settings.ts');
  const warn = (text: string) => context.stderr.write(`warning: ${text}\n`);
  // A daemon that goes on from memory still knows the accounts.
  const seen = await lookAt(context, postgres).catch(async (error: unknown) => {
    if (!(error instanceof StorageError)) throw error;
    await warn(`who owns the accounts is not known: ${error.message}`);
    return null;
  });
  if (seen === null) return null;
  const cluster = describeCluster(seen);
  const leading = seen.members.find(({ incarnation }) => incarnation === seen.owner);
  const here = { configHash: await hashSettings(settings, postgres), program: programOf(context) };
  if (leading === undefined) await warn(nobodyOwns);
  else if (haveSameConfiguration(leading, here) === false)
    await warn(`the configuration here is not that of ${leading.node}, which owns the accounts`);
  for (const { node, sameConfiguration } of cluster.members)
    if (sameConfiguration === false)
      await warn(`the configuration of ${node}, which stands by, is not that of ${cluster.owner}`);
  return cluster;
}

/** `north owns the accounts (epoch 3), south stands by`. */
function wordCluster({ owner, epoch, members }: DescribedCluster): string {
  const others = members.filter(({ role }) => role === 'standby').map(({ node }) => node);
  const who = owner === null ? 'nobody owns the accounts' : `${owner} owns the accounts (epoch ${epoch})`;
  return `${who}, ${others.join(' and ') || 'nobody'} ${others.length > 1 ? 'stand' : 'stands'} by`;
}

/** `CRITICAL 2 alerts firing, otp lasts 5h`. If anything may be unknown, it is not OK. */
function formatLine(
  summary: AccountSummary,
  { stdout, isOld, isTroubled, now }: Frame & { readonly isOld: boolean; readonly isTroubled: boolean },
): string {
  const { worst, first, failing, waiting, endingSoon } = summary;
  const isKnown = !isOld && !isTroubled && failing + waiting === 0;
  const calmWord = endingSoon > 0 ? 'ends soon' : 'ok';
  const word = (worst ?? (isKnown ? calmWord : 'unknown')).toUpperCase();
  const runway = first === null ? '-' : runwayOf(first, now);
  const parts = [
    ...(isOld ? ['old readings'] : []),
    ...(isTroubled ? ['lowwater has a problem'] : []),
    ...wordTotals(summary),
    ...(first === null || runway === '-' ? [] : [`${cleanText(first.id, 63)} lasts ${runway}`]),
  ];
  const { style } = stdout;
  const calm = isKnown && endingSoon === 0 ? style.green : style.yellow;
  return `${worst === null ? calm(word) : paintSeverity(style, worst, word)} ${parts.join(', ')}`;
}

/** The table of the accounts in their order, with a line of totals, no wider than the terminal. */
export function formatStatus(summary: AccountSummary, frame: Frame): string {
  const { stdout } = frame;
  const { shown, accounts } = summary;
  const table = formatTable({ columns: statusColumns(shown, frame), rows: shown, output: stdout });
  const more = accounts - shown.length;
  const totals = [
    ...wordTotals(summary),
    ...(more === 0 ? [] : [`${more} of them not shown here: lowwater status | less shows all`]),
  ];
  return `${table}\n${wrapToWidth(totals.join(', '), layoutWidth(stdout)).join('\n')}\n`;
}

function statusColumns(accounts: AccountSummary['shown'], frame: Frame): Column<ShownAccount>[] {
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
          value: (account: ShownAccount) => moneyOf(account, id),
          paint: (account: ShownAccount, cell: string) =>
            account.reading !== null && amountOf(account.reading, id) < 0 ? style.red(cell) : cell,
        }))),
    { header: 'CUR', rank: 4, value: (account) => account.currency ?? '' },
    ...(symbols ? [sparkColumn(now, balances?.[0]?.label)] : []),
    {
      header: 'BURN/DAY',
      align: 'right',
      rank: 2,
      value: (account) => {
        const { burnPerDay = null, balance = null } = pressing(account) ?? {};
        return burnPerDay === null ? '-' : wordAmount(account, balance, computed(burnPerDay));
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

function sparkColumn(now: number, label?: string): Column<ShownAccount> {
  return {
    header: `LAST 24 H${label === undefined ? '' : ` (${label.toUpperCase()})`}`,
    rank: 7,
    drawn: true,
    value: ({ day = [], balances: [first] }) =>
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

/** The state in a word, with its symbol and its colour. */
function stateOf(account: BriefAccount, style: Style) {
  const { worst, outcome, isRead } = account;
  if (worst !== null) {
    const paint = (text: string) => paintSeverity(style, worst, text);
    return { word: worst, symbol: worst === 'info' ? 'ℹ' : '▲', paint };
  }
  if (outcome === null) return { word: 'waiting', symbol: '…', paint: style.dim };
  if (isEndingSoon(account)) return { word: 'ends soon', symbol: '▽', paint: style.yellow };
  return isRead
    ? { word: 'ok', symbol: '✓', paint: style.green }
    : { word: outcome === 'ok' ? 'not read' : outcome, symbol: '✗', paint: style.yellow };
}

function moneyOf(account: BriefAccount, balance: Balance): string {
  return account.reading === null ? '-' : wordAmount(account, balance, amountOf(account.reading, balance));
}

/** An amount without its currency, which has a column of its own. A unit other than the currency stays with the amount. */
function wordAmount(account: BriefAccount, balance: Balance | null, amount: Micros): string {
  const unit = unitOf(account, balance);
  return unit === account.currency ? formatBare(amount, unit) : formatAmount(amount, unit);
}

/** `SMS 42.10, VoIP 0.00`, used if accounts of several providers have different balances. */
function wordBalances(account: BriefAccount): string {
  return account.balances.map(({ id, label }) => `${label} ${moneyOf(account, id)}`).join(', ');
}

/** The runway of the balance that ends first. */
function pressing(account: BriefAccount): Runway | null {
  return account.runways[leadingBalance(account)] ?? null;
}

/** `2d20h (1d-5d)`: the median, and the 80 % range. */
function runwayOf(account: BriefAccount, now: number): string {
  const { runwayMs = null, forecast = null } = pressing(account) ?? {};
  if (runwayMs === null) return '-';
  const lasts = (ms: number): string => sayLength(ms, { language: english }, formatShortLength);
  const median = lasts(runwayMs);
  if (runwayMs === 0 || forecast?.earliest == null) return median;
  const from = lasts(forecast.earliest - now);
  const until = forecast.latest === null ? '..' : lasts(forecast.latest - now);
  if (from === median && until === median) return median;
  return `${median} (${from}-${until})`;
}

/** `Thu 14:00, between Wed 22:00 and Fri 09:00`. */
function wordEmpty(runway: Runway | null, frame: Pick<Frame, 'timezone' | 'now'>): string {
  const emptyAt = endOf(runway, frame.now);
  if (emptyAt === null) return '-';
  return sayEmptyAt(emptyAt, runway?.forecast ?? null, { ...frame, language: english }, sayNearMoment);
}

/** The line of totals. A daemon that does not know what is stored shows accounts as never read, and no alerts. */
function wordTotals(summary: AccountSummary): readonly string[] {
  const { accounts, firing, failing, waiting, endingSoon } = summary;
  const calm = waiting < accounts ? ['no alert fires'] : [];
  return [
    plural(accounts, 'account'),
    ...(firing === 0 ? calm : [`${plural(firing, 'alert')} firing`]),
    ...wordEndingSoon(endingSoon),
    ...(failing > 0 ? [`${failing} cannot be read`] : []),
    ...(waiting > 0 ? [`${waiting} not read yet`] : []),
  ];
}
