import { formatAmount, formatMicros } from '../../domain/money.ts';
import { ownOf } from '../../domain/own.ts';
import { cleanText, plural } from '../../domain/plain-text.ts';
import { balanceOf } from '../../domain/quantity.ts';
import { amountOf, unitOf } from '../../domain/reading.ts';
import type { DescribedExchange } from '../../providers/describe-exchange.ts';
import { isEndingSoon, wordEndingSoon } from '../../views/account-summary.ts';
import type { CheckedAccount } from '../../views/check.ts';
import type { Explanation } from '../../views/views.ts';
import { english } from '../../wording/language.ts';
import type { Reader } from '../../wording/moments.ts';
import { sayAmount, sayLimit, sayValue } from '../../wording/quantity-wording.ts';
import { type Backend, operatorCommand } from '../backend.ts';
import { type CommandInput, jsonOption } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { checkThroughDaemon } from '../daemon/remote-views.ts';
import { loadConfiguration } from '../load-configuration.ts';
import { requireKnown } from '../read-options.ts';
import { describeFine, type Output, paintSeverity, printJson, type Style } from '../terminal/output.ts';
import { formatTable } from '../terminal/table.ts';
import { displayWidth, padToWidth } from '../terminal/text.ts';

export const pluginCodes = { ok: 0, warning: 1, critical: 2, unknown: 3 } as const;

type PluginStatus = keyof typeof pluginCodes;

export const checkCommand = operatorCommand({
  name: 'check',
  summary: 'poll now, print balances and what each rule says; stores nothing itself',
  details: `Exits as monitoring plugins do: 0 OK, 1 warning, 2 critical, 3 unknown (an account could not be read, and nothing worse is
known; or check itself failed). The first line says the same in words, with the balances as performance data after the bar where it is read by a
program. A configuration that is refused also exits with 2.

With a running daemon the daemon polls, within its limits, and stores what it reads; one that stands by shows what the owner
of the accounts read last; without one, check obeys the limits and pauses that are stored.

--json prints {"status","accounts":[{... as "status --json" has it, "rules":[... as "explain --json" has them]}]}.`,
  options: {
    account: { value: 'ID', summary: 'only this account', completes: 'accounts' },
    'explain-request': {
      summary:
        'print the request without its credentials, the answer, and what was read from where; does not ask the daemon',
    },
    json: jsonOption,
  },
  examples: [
    'lowwater check',
    'lowwater check --account otp --json',
    'lowwater check --account otp --explain-request',
  ],
  async run(context, input, backend) {
    const account = input.option('account');
    const ids =
      account === null ? backend.names.accounts : [requireKnown('account', backend.names.accounts, account)];
    const isExplained = input.flag('explain-request');
    const exchanges: DescribedExchange[] = [];
    const checked =
      backend.daemon === null || isExplained
        ? await pollHere(context, input, backend, { account, explain: (each) => void exchanges.push(each) })
        : await checkThroughDaemon(() => backend.views(), backend.daemon, {
            accounts: ids,
            by: context.user,
            clock: context.clock,
          });
    const status = worstFirst.find((each) => checked.some((one) => statusOf(one) === each)) ?? 'ok';
    if (input.flag('json')) {
      const { accountJson } = await import('../../views/account-json.ts');
      const { explanationJson } = await import('../../views/public-json.ts');
      const accounts = checked.map(({ view, explanations }) => ({
        ...accountJson(view),
        rules: explanations.map(explanationJson),
      }));
      await printJson(context, { status, accounts, ...(isExplained ? { exchanges } : {}) });
      return pluginCodes[status];
    }
    const shown = isExplained ? exchanges.map((each) => formatExchange(each, context.stdout)) : [];
    await context.stdout.write(shown.join('') + formatCheck(checked, status, context, backend.timezone));
    return pluginCodes[status];
  },
});

async function pollHere(
  context: CommandContext,
  input: CommandInput,
  backend: Backend,
  order: { readonly account: string | null; readonly explain: (exchange: DescribedExchange) => void },
): Promise<readonly CheckedAccount[]> {
  // Loading a configuration with errors prints them.
  const settings =
    (backend.lost.size === 0 && backend.settings) || (await loadConfiguration(context, input)).settings;
  const { checkHere } = await import('../act-here.ts');
  return checkHere(context, { settings, ...order });
}

/** The request for an account, the answer, and a table of what was read from which place. */
function formatExchange(
  { account, request, signed, answer, read }: DescribedExchange,
  output: Output,
): string {
  const texts = signed.map(({ step, text }) => `${step} is of ${text}`);
  const lines = [...request, ...texts, answer ?? 'no answer'].map((line) => `\n  ${line}`).join('');
  const table = formatTable({
    columns: [
      { header: '  READ', value: ({ what }) => `  ${what}`, drawn: true },
      { header: 'FROM', value: ({ where }) => where },
      { header: 'FOUND', value: ({ found }) => found, minWidth: 12 },
      { header: 'AS', value: (part) => part.read, minWidth: 12 },
    ],
    rows: read,
    output,
  });
  return `${output.style.bold(account)}${lines}\n${read.length === 0 ? '' : table}\n`;
}

/** The verdict on an account: its worst breach; unknown when it could not be read and nothing is breached. */
function statusOf({ view, outcome, explanations }: CheckedAccount): PluginStatus {
  const breaches = explanations.map(({ evaluation }) =>
    evaluation.kind === 'breached' ? evaluation.severity : 'info',
  );
  if (breaches.includes('critical')) return 'critical';
  if (breaches.includes('warning')) return 'warning';
  return isReadNow({ view, outcome }) ? 'ok' : 'unknown';
}

/** Whether the check brought a reading, or a reading that was pushed is recent. */
function isReadNow({ view, outcome }: Pick<CheckedAccount, 'view' | 'outcome'>): boolean {
  return outcome === 'ok' && view.isRead;
}

const worstFirst: readonly PluginStatus[] = ['critical', 'warning', 'unknown'];

function formatCheck(
  checked: readonly CheckedAccount[],
  status: PluginStatus,
  { stdout, clock }: CommandContext,
  timezone: string,
): string {
  const { style } = stdout;
  const frame = { language: english, now: clock.now(), timezone, style };
  const troubled = checked.filter((account) => statusOf(account) !== 'ok');
  const ending = checked.filter((account) => statusOf(account) === 'ok' && isEndingSoon(account.view)).length;
  const good = `${checked.length - troubled.length - ending} of ${plural(checked.length, 'account')} fine`;
  const worst = troubled
    .toSorted((left, right) => worstFirst.indexOf(statusOf(left)) - worstFirst.indexOf(statusOf(right)))
    .slice(0, namedAtMost)
    .map((account) => wordTrouble(account, frame));
  const text = [...worst, good, ...wordEndingSoon(ending)].join('; ');
  const accounts = checked.map((account) => formatAccount(account, frame)).join('');
  const first = `${paintStatus(style, status)}: `;
  if (stdout.isTerminal) return `${first}${text}\n${accounts}`;
  // A bar begins performance data, whatever line it is in.
  const [words, more] = [text, accounts].map((each) => each.replaceAll('|', '/'));
  return `${first}${words}${formatPerformanceData(checked)}\n${more}`;
}

const namedAtMost = 3;

/** `otp: sms-low 42.10 CNY`, or why nothing is known about the account. */
function wordTrouble({ view, outcome, explanations }: CheckedAccount, frame: Frame): string {
  const breached = explanations.flatMap(({ rule, evaluation }) => {
    if (evaluation.kind !== 'breached' || evaluation.severity === 'info') return [];
    const currency = unitOf(view, balanceOf(rule.balance, evaluation.facts));
    const value = sayValue(evaluation, { ...frame, currency });
    return value === null ? rule.id : `${rule.id} ${value}`;
  });
  return `${view.id}: ${breached.length > 0 ? breached.join(', ') : outcome === 'ok' ? 'not read' : (outcome ?? 'not asked')}`;
}

/**
 * ` | 'otp sms'=42.1;200:;50:`: what was read, with the ranges of warning and critical, in the format of monitoring plugins
 * (https://www.monitoring-plugins.org/doc/guidelines.html). A balance that could not be read is left out.
 */
function formatPerformanceData(checked: readonly CheckedAccount[]): string {
  const data = checked.flatMap(({ view, outcome }) => {
    const { reading, thresholds, id } = view;
    if (!isReadNow({ view, outcome }) || reading === null) return [];
    return view.balances.map(({ id: balance }) => {
      const { warning, critical } = ownOf(thresholds, balance) ?? {};
      const ranges = [warning, critical].map((level) =>
        level === undefined ? '' : `${formatMicros(level)}:`,
      );
      return `'${id} ${balance}'=${[formatMicros(amountOf(reading, balance)), ...ranges].join(';').replace(/;+$/, '')}`;
    });
  });
  return data.length === 0 ? '' : ` | ${data.join(' ')}`;
}

interface Frame extends Reader {
  readonly style: Style;
}

function formatAccount(checked: CheckedAccount, frame: Frame): string {
  const { view, outcome, reason, explanations } = checked;
  const { style } = frame;
  const lines = [`\n${style.bold(cleanText(view.name, 100))} (${view.id})`];
  const words = cleanText(reason ?? '', 300);
  if (outcome === 'ok' && view.reading !== null) {
    if (words !== '') lines.push(style.dim(`  ${words}`));
    const labels = view.balances.map(({ checkLabel, label }) => cleanText(checkLabel ?? label, 60));
    const widest = Math.max(4, ...labels.map(displayWidth));
    for (const [index, { id: balance, unit = view.reading.currency }] of view.balances.entries())
      lines.push(
        `  ${padToWidth(labels[index] ?? '', widest)}  ${formatAmount(amountOf(view.reading, balance), unit)}`,
      );
  } else {
    // If the account was not polled, the reason alone says so.
    lines.push(`  ${outcome === null ? style.yellow(words) : `${style.yellow(outcome)}: ${words}`}`);
  }
  for (const [name, value] of Object.entries(view.usage)) {
    lines.push(style.dim(`  ${cleanText(name, 60)}: ${cleanText(value, 100)}`));
  }
  const width = Math.max(0, ...explanations.map(({ rule }) => rule.id.length));
  for (const explanation of explanations) {
    const { rule, evaluation } = explanation;
    const currency = unitOf(view, balanceOf(rule.balance, evaluation.facts));
    lines.push(formatRule(explanation, { ...frame, width, currency, isRead: isReadNow(checked) }));
  }
  return `${lines.join('\n')}\n`;
}

function formatRule(
  { rule, evaluation, isAboutReadings, isOld }: Explanation,
  frame: Frame & { readonly width: number; readonly currency: string | null; readonly isRead: boolean },
): string {
  const { style } = frame;
  const name = padToWidth(rule.id, frame.width);
  if (evaluation.kind === 'unknown') return style.dim(`  ${name}  ${cleanText(evaluation.why, 300)}`);
  const value = sayValue(evaluation, frame);
  const threshold = sayLimit(evaluation, frame, sayAmount);
  const numbers = isAboutReadings
    ? [`${frame.isRead ? `last read ${value} ago` : `not read for ${value}`} (limit ${threshold})`]
    : [
        value,
        threshold && `${evaluation.threshold?.unit === 'text' ? 'expected' : 'threshold'} ${threshold}`,
      ];
  const { text, paint } = describeFine(isOld, style);
  const verdict =
    evaluation.kind === 'ok' ? paint(text) : paintSeverity(style, evaluation.severity, evaluation.severity);
  const said = numbers.filter((text) => text !== null && text !== evaluation.kind).join(', ');
  return `  ${name}  ${verdict}${said && `  ${said}`}`;
}

function paintStatus(style: Style, status: PluginStatus): string {
  const word = status.toUpperCase();
  if (status === 'ok') return style.green(word);
  return status === 'unknown' ? style.yellow(word) : paintSeverity(style, status, word);
}
