import { describeDuration } from '../../domain/duration.ts';
import { plural } from '../../domain/moment.ts';
import { cleanText } from '../../domain/plain-text.ts';
import type { Settings } from '../../domain/settings.ts';
import type { ReplayResult } from '../../replay/history-replay.ts';
import type { ReplayedIncident } from '../../replay/incident-book.ts';
import { wordQuantity } from '../../wording/quantity-wording.ts';
import { paintSeverity } from '../severity-style.ts';
import { cutToWidth } from '../terminal/display-width.ts';
import { layoutWidth, type Output } from '../terminal/output.ts';
import { formatTable } from '../terminal/table.ts';
import { formatLocal } from '../terminal/time.ts';
import { wrapToWidth } from '../terminal/wrap.ts';
import type { AccountTrace } from './account-trace.ts';
import { drawTimeline } from './draw-timeline.ts';
import { formatMessages, formatTotals } from './format-totals.ts';

export interface ReplayReport {
  readonly result: ReplayResult;
  /** Of the accounts with history, in the order of the configuration. */
  readonly traces: readonly AccountTrace[];
  readonly settings: Settings;
  readonly now: number;
  readonly stdout: Output;
}

/** What people read of a replay: a picture per account on a terminal, every incident, and what it all comes to. */
export function formatReplay(report: ReplayReport): string {
  const { result, traces, stdout } = report;
  if (traces.length === 0) return 'No readings in that time: there is nothing to replay.\n';
  const since = Math.min(...traces.map((trace) => trace.since));
  const until = Math.max(...traces.map((trace) => trace.until));
  const polls = traces.reduce((sum, trace) => sum + trace.polls, 0);
  const heading = `Replay of ${describeDuration(until - since)}, ${formatLocal(since)} to ${formatLocal(until)}: ${plural(polls, 'poll')} of ${plural(traces.length, 'account')}`;
  const accounts = traces.map((trace) => formatAccount(report, trace));
  const totals = formatTotals(result, { until, stdout });
  const messages = formatMessages(result.messages, { since, until });
  const room = layoutWidth(stdout);
  const parts = [
    wrapToWidth(heading, room).map(stdout.style.bold).join('\n'),
    ...accounts,
    ...(totals === '' ? [] : [totals]),
    wrapToWidth(messages, room).join('\n'),
  ];
  return `${parts.join('\n\n')}\n`;
}

function formatAccount(report: ReplayReport, trace: AccountTrace): string {
  const { result, stdout } = report;
  const { id, name } = trace.account;
  const incidents = result.incidents.filter(({ incident }) => incident.account === id);
  const called = name === id ? id : `${cleanText(name, 80)} (${id})`;
  const count = incidents.length === 0 ? 'no incident' : plural(incidents.length, 'incident');
  const room = layoutWidth(stdout);
  const shown = room === null ? called : cutToWidth(called, Math.max(10, room - count.length - 2));
  const heading = `${stdout.style.bold(shown)}: ${count}`;
  const timeline = stdout.isTerminal ? drawTimeline(report, trace, incidents) : [];
  const table = incidents.length === 0 ? [] : [formatIncidents(report, trace, incidents)];
  return [heading, ...timeline, ...table].join('\n');
}

function formatIncidents(
  { settings, now, stdout }: ReplayReport,
  trace: AccountTrace,
  incidents: readonly ReplayedIncident[],
): string {
  const { style } = stdout;
  const frame = { timezone: settings.timezone, now };
  return formatTable<ReplayedIncident>({
    columns: [
      { header: 'FIRED', value: ({ incident }) => formatLocal(incident.firedAt) },
      { header: 'RULE', value: ({ incident }) => incident.rule, minWidth: 10 },
      {
        header: 'SEVERITY',
        value: ({ incident }) => incident.worstSeverity,
        paint: ({ incident }, cell) => paintSeverity(style, incident.worstSeverity, cell),
      },
      { header: 'LASTED', align: 'right', rank: 1, value: ({ incident }) => describeLength(incident) },
      { header: 'RESOLVED', rank: 4, value: ({ incident }) => describeEnd(incident) },
      {
        header: 'VALUE',
        align: 'right',
        rank: 2,
        value: ({ incident, value }) =>
          value === null
            ? ''
            : wordQuantity(value, { ...frame, currency: trace.currencyAt(incident.firedAt) }),
      },
      { header: 'BEFORE EMPTY', rank: 3, minWidth: 12, value: describeEmptying },
    ],
    rows: incidents,
    width: layoutWidth(stdout),
    style,
  }).trimEnd();
}

function describeLength({ event, firedAt, resolvedAt }: ReplayedIncident['incident']): string {
  if (event) return 'event';
  return resolvedAt === null ? 'open' : shortLength(resolvedAt - firedAt);
}

function describeEnd({ event, resolvedAt }: ReplayedIncident['incident']): string {
  if (event) return '';
  return resolvedAt === null ? 'still open' : formatLocal(resolvedAt);
}

/** How long people had from the first message until nothing was left. */
function describeEmptying({ incident, empty }: ReplayedIncident): string {
  if (empty === null) return '';
  const leftMs = empty.at - incident.firedAt;
  if (leftMs <= 0) return 'empty already';
  return empty.how === 'reached' ? shortLength(leftMs) : `${shortLength(leftMs)} (projected)`;
}

/** The two largest units: `3d 4h`, `12m`. */
export function shortLength(ms: number): string {
  return describeDuration(ms)
    .replace(/ (day|hour|minute|second)s?/g, (_, unit: string) => unit.charAt(0))
    .replace(/ ms$/, 'ms');
}
