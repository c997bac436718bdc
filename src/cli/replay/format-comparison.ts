import { plural } from '../../domain/plain-text.ts';
import type { Settings } from '../../domain/settings.ts';
import { describeDuration } from '../../domain/time.ts';
import type { ReplayChange, ReplayComparison } from '../../replay/compare.ts';
import type { ReplayedIncident } from '../../replay/incident-book.ts';
import type { Output } from '../terminal/output.ts';
import { formatTable } from '../terminal/table.ts';
import { formatInstant } from '../terminal/text.ts';

/** The text of a comparison: every alert that would be another, and the messages of each channel. */
export function formatComparison(
  { changes, same, messages }: ReplayComparison,
  { settings: { timezone }, stdout }: { readonly settings: Settings; readonly stdout: Output },
): string {
  const counts = Map.groupBy(changes, ({ kind }) => kind);
  const said = [...counts].map(
    ([kind, { length }]) => `${length} ${kind === 'severity' ? 'of another severity' : kind}`,
  );
  const accounts = new Set(changes.map(({ account }) => account)).size;
  const unchanged = `${plural(same, 'alert')} as before`;
  const summary =
    changes.length === 0
      ? `Nothing would change: ${unchanged}.`
      : `${said.join(', ')}, at ${plural(accounts, 'account')}; ${unchanged}.`;
  const table = formatTable<ReplayChange>({
    columns: [
      { header: 'ACCOUNT', value: ({ account }) => account, minWidth: 10 },
      { header: 'CHANGE', value: wordChange },
      { header: 'RULE', value: (change) => moved(change, ({ rule }) => rule), minWidth: 8 },
      { header: 'SEVERITY', rank: 1, value: (change) => moved(change, ({ severity }) => severity) },
      { header: `FIRED (${timezone})`, value: ({ at }) => formatInstant(at, timezone) },
    ],
    rows: changes,
    output: stdout,
  });
  const channels = messages.map(({ channel, before, after }) => `  ${channel}: ${before} → ${after}`);
  const sent =
    messages.length === 0
      ? 'No message, before or after.'
      : `Messages, before → after:\n${channels.join('\n')}`;
  return `${changes.length === 0 ? '' : `${table}\n`}${summary}\n${sent}\n`;
}

function wordChange({ kind, before, after }: ReplayChange): string {
  if (before === null || after === null || kind === 'severity') return kind;
  return `${kind} by ${describeDuration(Math.abs(after.firedAt - before.firedAt))}`;
}

function moved({ before, after }: ReplayChange, name: (incident: ReplayedIncident) => string): string {
  const names = [before, after].flatMap((incident) => (incident === null ? [] : [name(incident)]));
  return [...new Set(names)].join(' → ');
}
