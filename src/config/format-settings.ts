import { cleanText } from '../core/plain-text.ts';
import { formatProblem } from './config-problem.ts';
import type { SettingsDescription } from './describe-settings.ts';

/** The configuration as understood, as text for a terminal, without colours. */
export function formatSettings(description: SettingsDescription): string {
  const { accounts, rules, channels, routes, silences, reports, settings, warnings } = description;
  const allAccounts = accounts.length;
  const sections: readonly (readonly [string, readonly (readonly string[])[]])[] = [
    [
      'Accounts',
      accounts.map(({ id, name, baseUrl, poll, currency, labels }) => {
        const marks = Object.entries(labels).map(([label, value]) => `${label}=${value}`);
        return [id, name === id ? '' : name, poll, baseUrl, [currency ?? '', ...marks].join(' ').trim()];
      }),
    ],
    [
      'Rules',
      rules.map((rule) => {
        const scope =
          rule.accounts.length === allAccounts ? 'all accounts' : rule.accounts.join(', ') || 'no account';
        return [
          rule.id,
          `${rule.type}${rule.builtIn ? ' (built in)' : ''}`,
          rule.severity,
          scope,
          rule.condition,
        ];
      }),
    ],
    ['Channels', channels.map(({ name, type, target }) => [name, type, target])],
    ['Routes', routes.map((route, index) => [`${index + 1}.`, route.match, formatRoute(route)])],
    ['Silences', silences.map(({ match, when, duration, comment }) => [match, when, duration, comment])],
    ['Reports', reports.map(({ id, when, channels: to }) => [id, when, to.join(', ')])],
    ['Settings', Object.entries(settings)],
    ['Warnings', warnings.map((warning) => [formatProblem(warning)])],
  ];
  return sections
    .filter(([, rows]) => rows.length > 0)
    .map(([title, rows]) => `${title}\n${alignColumns(rows)}`)
    .join('\n\n');
}

function formatRoute(route: SettingsDescription['routes'][number]): string {
  const escalate =
    route.escalate === null
      ? ''
      : `, to ${route.escalate.channels.join(', ')} after ${route.escalate.after} unacknowledged`;
  return `to ${route.channels.join(', ')}, again every ${route.repeatEvery}, grouped for ${route.groupWait}${escalate}${route.continue ? ', then on' : ''}`;
}

/** Far more than sensible content takes; a name of megabytes must not fill the screen. */
const longestCell = 500;

function alignColumns(rows: readonly (readonly string[])[]): string {
  const texts = rows.map((row) => row.map((cell) => cleanText(cell, longestCell)));
  const widths: number[] = [];
  for (const row of texts) {
    row.slice(0, -1).forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, cell.length);
    });
  }
  return texts
    .map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd())
    .join('\n');
}
