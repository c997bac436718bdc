import { plural } from '../../domain/moment.ts';
import { formatAmount } from '../../domain/money.ts';
import { cleanText } from '../../domain/plain-text.ts';
import { balances } from '../../domain/reading.ts';
import type { CheckedAccount } from '../../views/check.ts';
import { accountJson, explanationJson } from '../../views/public-json.ts';
import type { Explanation } from '../../views/views.ts';
import { wordQuantity } from '../../wording/quantity-wording.ts';
import type { Command } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { loadConfiguration } from '../load-configuration.ts';
import { printJson } from '../print-json.ts';
import { requireAccount } from '../read-options.ts';
import { paintSeverity } from '../severity-style.ts';
import { padToWidth } from '../terminal/display-width.ts';
import type { Style } from '../terminal/style.ts';

/** Exit codes of monitoring plugins. */
const pluginCodes = { ok: 0, warning: 1, critical: 2, unknown: 3 } as const;

type PluginStatus = keyof typeof pluginCodes;

export const checkCommand: Command = {
  name: 'check',
  summary: 'poll now, print balances and what each rule says; stores nothing',
  details: `Exits as monitoring plugins do: 0 OK, 1 warning, 2 critical, 3 unknown (an account could not be read, and nothing worse is
known). The first line says the same in words. A configuration that is refused also exits with 2.

--json prints {"status","accounts":[{... as "status --json" has it, "rules":[... as "explain --json" has them]}]}.`,
  options: {
    account: { value: 'ID', summary: 'only this account' },
    json: { summary: 'print JSON' },
  },
  examples: ['lowwater check', 'lowwater check --account otp --json'],
  run: async (context, input) => {
    const { settings } = await loadConfiguration(context, input);
    const account = input.option('account');
    if (account !== null) requireAccount(settings, account);
    const checked = await context.rooms.checkAccounts({ settings, account, signal: context.signal });
    const status = worstOf(checked.map(statusOf));
    if (input.flag('json')) {
      const accounts = checked.map(({ view, explanations }) => ({
        ...accountJson(view),
        rules: explanations.map(explanationJson),
      }));
      await printJson(context, { status, accounts });
    } else {
      await context.stdout.write(formatCheck(checked, status, context, settings.timezone));
    }
    return pluginCodes[status];
  },
};

/** What an account comes to: its worst breach; unknown when it could not be read and nothing is breached. */
function statusOf({ outcome, explanations }: CheckedAccount): PluginStatus {
  const breaches = explanations.map(({ evaluation }) =>
    evaluation.kind === 'breached' ? evaluation.severity : 'info',
  );
  if (breaches.includes('critical')) return 'critical';
  if (breaches.includes('warning')) return 'warning';
  return outcome.kind === 'ok' ? 'ok' : 'unknown';
}

function worstOf(statuses: readonly PluginStatus[]): PluginStatus {
  const worstFirst = ['critical', 'warning', 'unknown'] as const;
  return worstFirst.find((status) => statuses.includes(status)) ?? 'ok';
}

function formatCheck(
  checked: readonly CheckedAccount[],
  status: PluginStatus,
  { stdout, clock }: CommandContext,
  timezone: string,
): string {
  const { style } = stdout;
  const good = checked.filter((account) => statusOf(account) === 'ok').length;
  const headline = `${paintStatus(style, status)}: ${good} of ${plural(checked.length, 'account')} fine`;
  const frame = { now: clock.now(), timezone, style };
  return `${headline}\n${checked.map((account) => formatAccount(account, frame)).join('')}`;
}

interface Frame {
  readonly now: number;
  readonly timezone: string;
  readonly style: Style;
}

function formatAccount(checked: CheckedAccount, frame: Frame): string {
  const { view, outcome, explanations } = checked;
  const { style } = frame;
  const lines = [`\n${style.bold(cleanText(view.name, 100))} (${view.id})`];
  if (outcome.kind === 'ok') {
    for (const balance of balances)
      lines.push(
        `  ${balance.toUpperCase().padEnd(4)}  ${formatAmount(outcome.answer[balance], outcome.answer.currency)}`,
      );
  } else {
    lines.push(`  ${style.yellow(outcome.kind)}: ${cleanText(outcome.reason, 300)}`);
  }
  for (const [name, value] of Object.entries(view.usage)) {
    lines.push(style.dim(`  ${cleanText(name, 60)}: ${cleanText(value, 100)}`));
  }
  const width = Math.max(0, ...explanations.map(({ rule }) => rule.id.length));
  for (const explanation of explanations)
    lines.push(formatRule(explanation, { ...frame, width, currency: view.currency }));
  return `${lines.join('\n')}\n`;
}

function formatRule(
  { rule, evaluation }: Explanation,
  frame: Frame & { readonly width: number; readonly currency: string | null },
): string {
  const { style } = frame;
  const name = padToWidth(rule.id, frame.width);
  if (evaluation.kind === 'unknown')
    return style.dim(`  ${name}  no verdict: ${cleanText(evaluation.why, 300)}`);
  const numbers = [
    ...(evaluation.value === null ? [] : [wordQuantity(evaluation.value, frame)]),
    ...(evaluation.threshold === null ? [] : [`threshold ${wordQuantity(evaluation.threshold, frame)}`]),
  ].join(', ');
  const verdict =
    evaluation.kind === 'ok'
      ? style.green('ok')
      : paintSeverity(style, evaluation.severity, evaluation.severity);
  return `  ${name}  ${verdict}${numbers === '' ? '' : `  ${numbers}`}`;
}

function paintStatus(style: Style, status: PluginStatus): string {
  const word = status.toUpperCase();
  if (status === 'ok') return style.green(word);
  return status === 'unknown' ? style.yellow(word) : paintSeverity(style, status, word);
}
