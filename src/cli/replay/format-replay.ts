import { displayName, isSelfId } from '../../domain/alert.ts';
import { cleanText, plural } from '../../domain/plain-text.ts';
import type { Settings } from '../../domain/settings.ts';
import { describeDuration, weekMs } from '../../domain/time.ts';
import type { ReplayChange, ReplayComparison } from '../../replay/compare.ts';
import { judgeRunways, type ReplayedIncident } from '../../replay/incident-book.ts';
import type { MessageCount } from '../../replay/message-counter.ts';
import type { SurveyedPast } from '../../replay/past.ts';
import type { ReplayResult } from '../../replay/replay-engine.ts';
import { english } from '../../wording/language.ts';
import { sayQuantity } from '../../wording/quantity-wording.ts';
import { layoutWidth, type Output, paintSeverity } from '../terminal/output.ts';
import { formatTable } from '../terminal/table.ts';
import { cutToWidth, formatInstant, wrapToWidth } from '../terminal/text.ts';
import { drawTimeline, type Traces } from './timeline.ts';

interface ReplayReport {
  readonly result: ReplayResult;
  /** The data of the pictures; null if nothing is drawn. */
  readonly traces: Traces | null;
  readonly settings: Settings;
  readonly now: number;
  readonly stdout: Output;
}

/** The text of a replay: on a terminal a picture for each account, then every incident, and the totals. */
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
  const room = layoutWidth(stdout);
  const parts = [
    wrapToWidth(heading, room).map(stdout.style.bold).join('\n'),
    // The incidents of all accounts of a provider come together.
    ...[...byAccount]
      .filter(([id]) => isSelfId(id))
      .map(
        ([id, incidents]) =>
          `${stdout.style.bold(displayName(id))}: ${plural(incidents.length, 'incident')}\n${formatIncidents(report, incidents)}`,
      ),
    ...result.accounts.map((past) => formatAccount(report, past, byAccount.get(past.account.id) ?? [])),
    formatTotals(result.incidents, until, stdout),
    formatRunways(result, stdout),
    wrapToWidth(formatMessages(result.messages, { since, until, timezone }), room).join('\n'),
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function formatAccount(
  report: ReplayReport,
  { account: { id, name }, readCount }: SurveyedPast,
  incidents: readonly ReplayedIncident[],
): string {
  const { stdout } = report;
  const called = name === id ? id : `${cleanText(name, 80)} (${id})`;
  const notified = incidents.length === 0 ? 'no incident' : plural(incidents.length, 'incident');
  // Without a single reading, nothing is known about the balances.
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
  { settings: { timezone }, now, stdout }: ReplayReport,
  rows: readonly ReplayedIncident[],
): string {
  const { style } = stdout;
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
          value === null ? '' : sayQuantity(value, { language: english, timezone, now, currency }),
      },
      { header: 'BEFORE EMPTY', rank: 3, minWidth: 12, value: describeEmptying },
    ],
    rows,
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

/** The time between the first message and the empty balance. */
function describeEmptying({ firedAt, empty }: ReplayedIncident): string {
  if (empty === null) return '';
  const leftMs = empty.at - firedAt;
  if (leftMs <= 0) return 'empty already';
  return empty.how === 'projected' ? `${shortLength(leftMs)} (projected)` : shortLength(leftMs);
}

/** The totals of each rule over all accounts; empty without incidents. */
function formatTotals(incidents: readonly ReplayedIncident[], until: number, output: Output): string {
  if (incidents.length === 0) return '';
  const rows = [...Map.groupBy(incidents, ({ rule }) => rule)].map(([rule, own]) => {
    const lengths = own.map(({ event, firedAt, resolvedAt }) =>
      event ? 0 : Math.max(0, (resolvedAt ?? until) - firedAt),
    );
    return {
      rule,
      type: own[0]?.type ?? '',
      incidents: own.length,
      critical: own.filter(({ severity }) => severity === 'critical').length,
      accounts: new Set(own.map(({ account }) => account)).size,
      firing: lengthOrNothing(lengths.reduce((sum, ms) => sum + ms, 0)),
      longest: lengthOrNothing(lengths.reduce((longest, ms) => Math.max(longest, ms), 0)),
    };
  });
  return formatTable({
    columns: [
      { header: 'RULE', value: ({ rule }) => rule, minWidth: 10 },
      { header: 'TYPE', rank: 4, value: ({ type }) => type },
      { header: 'INCIDENTS', align: 'right', value: (total) => String(total.incidents) },
      { header: 'CRITICAL', align: 'right', rank: 2, value: ({ critical }) => String(critical) },
      { header: 'ACCOUNTS', align: 'right', rank: 3, value: ({ accounts }) => String(accounts) },
      { header: 'FIRING', align: 'right', rank: 1, value: ({ firing }) => firing },
      { header: 'LONGEST', align: 'right', rank: 5, value: ({ longest }) => longest },
    ],
    rows: rows.sort((left, right) => right.incidents - left.incidents),
    output,
  }).trimEnd();
}

function lengthOrNothing(ms: number): string {
  return ms === 0 ? '' : shortLength(ms);
}

/** For each rule that warns a time ahead, how well its warnings would have worked; empty if none of them fired. */
function formatRunways({ incidents, until }: ReplayResult, output: Output): string {
  const rows = judgeRunways(incidents, until);
  if (rows.length === 0) return '';
  // The median time between the warning and the empty balance.
  const lead = (ms: number | null) => (ms === null ? 'not known' : shortLength(Math.max(0, ms)));
  return formatTable({
    columns: [
      { header: 'WARNED AHEAD', value: ({ rule }) => rule, minWidth: 10 },
      { header: 'WITHIN', align: 'right', rank: 3, value: ({ withinMs }) => shortLength(withinMs) },
      { header: 'FIRED', align: 'right', value: ({ fired }) => String(fired) },
      { header: 'BEFORE EMPTY', align: 'right', value: ({ leadMs }) => lead(leadMs) },
      { header: 'IN TIME', align: 'right', rank: 2, value: ({ inTime }) => String(inTime) },
      { header: 'TOO EARLY', align: 'right', value: ({ early }) => String(early) },
      { header: 'TOO LATE', align: 'right', rank: 1, value: ({ late }) => String(late) },
      { header: 'FLAPPED', align: 'right', value: ({ flapped }) => String(flapped) },
    ],
    rows,
    output,
  }).trimEnd();
}

function formatMessages(
  { total, byChannel, byWeek }: MessageCount,
  { since, until, timezone }: { readonly since: number; readonly until: number; readonly timezone: string },
): string {
  if (total === 0) return 'No message would have been sent.';
  const channels = [...byChannel].map(([channel, count]) => `${channel} ${count}`).join(', ');
  const sum = `${plural(total, 'message')} (${channels})`;
  const weeks = (until - since) / weekMs;
  if (weeks <= 1) return `${sum}.`;
  const most = Math.max(...byWeek);
  const busiest = since + byWeek.indexOf(most) * weekMs;
  return `${sum}: ${(total / weeks).toFixed(1)} a week, at most ${most} in the week from ${formatInstant(busiest, timezone)}.`;
}

/** The two largest units: `3d 4h`, `12m`. */
function shortLength(ms: number): string {
  return describeDuration(ms)
    .replace(/ (day|hour|minute|second)s?/g, (_, unit: string) => unit.charAt(0))
    .replace(/ ms$/, 'ms');
}

/** The text of a comparison: every alert that differs, and the messages of each channel. */
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
