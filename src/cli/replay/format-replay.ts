import { displayName, isSelfId } from '../../domain/alert.ts';
import { describeDuration } from '../../domain/duration.ts';
import { cleanText, plural } from '../../domain/plain-text.ts';
import type { ReplayedIncident } from '../../replay/incident-book.ts';
import type { SurveyedPast } from '../../replay/past.ts';
import { wordQuantity } from '../../wording/quantity-wording.ts';
import { cutToWidth, wrapToWidth } from '../terminal/display-width.ts';
import { layoutWidth, paintSeverity } from '../terminal/output.ts';
import { formatTable } from '../terminal/table.ts';
import { formatInstant } from '../terminal/time.ts';
import type { ReplayReport } from './account-trace.ts';
import { drawTimeline } from './draw-timeline.ts';
import { formatMessages, formatRunways, formatTotals, shortLength } from './format-totals.ts';

/** What people read of a replay: a picture per account on a terminal, every incident, and what it all comes to. */
export function formatReplay(report: ReplayReport): string {
  const { result, stdout } = report;
  if (result.accounts.length === 0) return 'No readings in that time: there is nothing to replay.\n';
  const { since } = result;
  const { timezone } = report.settings;
  const until = result.accounts.reduce((latest, { lastAt }) => Math.max(latest, lastAt), since);
  const polls = result.accounts.reduce((sum, { count }) => sum + count, 0);
  const failed = result.accounts.reduce((sum, { count, readCount }) => sum + count - readCount, 0);
  const heading = `Replay of ${describeDuration(until - since)}, ${formatInstant(since, timezone)} to ${formatInstant(until, timezone)} (${timezone}): ${plural(polls, 'poll')} of ${plural(result.accounts.length, 'account')}${failed === 0 ? '' : `, ${failed} of them failed`}`;
  const byAccount = Map.groupBy(result.incidents, ({ account }) => account);
  const providers = [...byAccount].filter(([id]) => isSelfId(id));
  const room = layoutWidth(stdout);
  const parts = [
    wrapToWidth(heading, room).map(stdout.style.bold).join('\n'),
    ...providers.map(([id, incidents]) => formatProvider(report, id, incidents)),
    ...result.accounts.map((past) => formatAccount(report, past, byAccount.get(past.account.id) ?? [])),
    formatTotals(result, { until, stdout }),
    formatRunways(result, { stdout }),
    wrapToWidth(formatMessages(result.messages, { since, until, timezone }), room).join('\n'),
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

/** What befell all accounts of a provider together. */
function formatProvider(report: ReplayReport, id: string, incidents: readonly ReplayedIncident[]): string {
  const heading = report.stdout.style.bold(displayName(id));
  return `${heading}: ${plural(incidents.length, 'incident')}\n${formatIncidents(report, incidents)}`;
}

function formatAccount(
  report: ReplayReport,
  { account: { id, name }, readCount }: SurveyedPast,
  incidents: readonly ReplayedIncident[],
): string {
  const { stdout } = report;
  const called = name === id ? id : `${cleanText(name, 80)} (${id})`;
  const notified = incidents.length === 0 ? 'no incident' : plural(incidents.length, 'incident');
  // Of balances that nobody saw nothing is known.
  const count = readCount === 0 ? `${notified}, but every poll failed` : notified;
  const room = layoutWidth(stdout);
  const shown = room === null ? called : cutToWidth(called, Math.max(10, room - count.length - 2));
  const [first = '', ...rest] = wrapToWidth(`${shown}: ${count}`, room);
  const heading = stdout.style.bold(shown) + first.slice(shown.length);
  const trace = report.traces?.of(id) ?? null;
  const timeline = trace === null ? [] : drawTimeline(report, trace, incidents);
  const table = incidents.length === 0 ? [] : [formatIncidents(report, incidents)];
  return [heading, ...rest, ...timeline, ...table].join('\n');
}

function formatIncidents(
  { settings, now, stdout }: ReplayReport,
  incidents: readonly ReplayedIncident[],
): string {
  const { style } = stdout;
  const { timezone } = settings;
  return formatTable<ReplayedIncident>({
    columns: [
      { header: 'FIRED', value: ({ firedAt }) => formatInstant(firedAt, timezone) },
      { header: 'RULE', value: ({ rule }) => rule, minWidth: 10 },
      {
        header: 'SEVERITY',
        value: ({ severity }) => severity,
        paint: ({ severity }, cell) => paintSeverity(style, severity, cell),
      },
      { header: 'LASTED', align: 'right', rank: 1, value: describeLength },
      { header: 'RESOLVED', rank: 4, value: (incident) => describeEnd(incident, timezone) },
      {
        header: 'VALUE',
        align: 'right',
        rank: 2,
        value: ({ value, currency }) =>
          value === null ? '' : wordQuantity(value, { timezone, now, currency }),
      },
      { header: 'BEFORE EMPTY', rank: 3, minWidth: 12, value: describeEmptying },
    ],
    rows: incidents,
    output: stdout,
  }).trimEnd();
}

function describeLength({ event, firedAt, resolvedAt }: ReplayedIncident): string {
  if (event) return 'event';
  return resolvedAt === null ? 'open' : shortLength(resolvedAt - firedAt);
}

function describeEnd({ event, resolvedAt }: ReplayedIncident, timezone: string): string {
  if (event) return '';
  return resolvedAt === null ? 'still open' : formatInstant(resolvedAt, timezone);
}

/** How long people had from the first message until nothing was left. */
function describeEmptying({ firedAt, empty }: ReplayedIncident): string {
  if (empty === null) return '';
  const leftMs = empty.at - firedAt;
  if (leftMs <= 0) return 'empty already';
  return empty.how === 'projected' ? `${shortLength(leftMs)} (projected)` : shortLength(leftMs);
}
