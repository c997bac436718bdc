import { describeDuration, weekMs } from '../../domain/duration.ts';
import { plural } from '../../domain/plain-text.ts';
import type { ReplayedIncident } from '../../replay/incident-book.ts';
import type { MessageCount } from '../../replay/notebook.ts';
import type { ReplayResult } from '../../replay/replay-result.ts';
import { judgeRunways, type RunwayRecord } from '../../replay/runway-record.ts';
import type { Output } from '../terminal/output.ts';
import { formatTable } from '../terminal/table.ts';
import { formatInstant } from '../terminal/time.ts';

interface RuleTotal {
  readonly rule: string;
  readonly type: string;
  readonly incidents: number;
  readonly critical: number;
  readonly accounts: number;
  readonly firingMs: number;
  readonly maxMs: number;
}

/** What each rule comes to over all accounts; empty without incidents. */
export function formatTotals(
  { incidents }: ReplayResult,
  { until, stdout }: { readonly until: number; readonly stdout: Output },
): string {
  if (incidents.length === 0) return '';
  return formatTable<RuleTotal>({
    columns: [
      { header: 'RULE', value: ({ rule }) => rule, minWidth: 10 },
      { header: 'TYPE', rank: 4, value: ({ type }) => type },
      { header: 'INCIDENTS', align: 'right', value: (total) => String(total.incidents) },
      { header: 'CRITICAL', align: 'right', rank: 2, value: ({ critical }) => String(critical) },
      { header: 'ACCOUNTS', align: 'right', rank: 3, value: ({ accounts }) => String(accounts) },
      { header: 'FIRING', align: 'right', rank: 1, value: ({ firingMs }) => lengthOrNothing(firingMs) },
      { header: 'LONGEST', align: 'right', rank: 5, value: ({ maxMs }) => lengthOrNothing(maxMs) },
    ],
    rows: sumByRule(incidents, until),
    output: stdout,
  }).trimEnd();
}

/** For each rule that warns a time ahead how well it would have; empty without any that fired. */
export function formatRunways(
  { incidents, until }: ReplayResult,
  { stdout }: { readonly stdout: Output },
): string {
  const records = judgeRunways(incidents, until);
  if (records.length === 0) return '';
  return formatTable<RunwayRecord>({
    columns: [
      { header: 'WARNED AHEAD', value: ({ rule }) => rule, minWidth: 10 },
      { header: 'WITHIN', align: 'right', rank: 3, value: ({ withinMs }) => shortLength(withinMs) },
      { header: 'FIRED', align: 'right', value: ({ fired }) => String(fired) },
      { header: 'BEFORE EMPTY', align: 'right', value: ({ leadMs }) => describeLead(leadMs) },
      { header: 'IN TIME', align: 'right', rank: 2, value: ({ inTime }) => String(inTime) },
      { header: 'TOO EARLY', align: 'right', value: ({ early }) => String(early) },
      { header: 'TOO LATE', align: 'right', rank: 1, value: ({ late }) => String(late) },
      { header: 'FLAPPED', align: 'right', value: ({ flapped }) => String(flapped) },
    ],
    rows: records,
    output: stdout,
  }).trimEnd();
}

/** As a rule, so long before nothing was left. */
function describeLead(leadMs: number | null): string {
  return leadMs === null ? 'not known' : shortLength(Math.max(0, leadMs));
}

/** How many messages, in all and a week, and when most of them came. */
export function formatMessages(
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

function sumByRule(incidents: readonly ReplayedIncident[], until: number): RuleTotal[] {
  const totals = [...Map.groupBy(incidents, ({ rule }) => rule)].map(([rule, own]) => {
    const lengths = own.map(({ event, firedAt, resolvedAt }) =>
      event ? 0 : Math.max(0, (resolvedAt ?? until) - firedAt),
    );
    return {
      rule,
      type: own[0]?.type ?? '',
      incidents: own.length,
      critical: own.filter(({ severity }) => severity === 'critical').length,
      accounts: new Set(own.map(({ account }) => account)).size,
      firingMs: lengths.reduce((sum, ms) => sum + ms, 0),
      maxMs: lengths.reduce((longest, ms) => Math.max(longest, ms), 0),
    };
  });
  return totals.sort((left, right) => right.incidents - left.incidents);
}

function lengthOrNothing(ms: number): string {
  return ms === 0 ? '' : shortLength(ms);
}

/** The two largest units: `3d 4h`, `12m`. */
export function shortLength(ms: number): string {
  return describeDuration(ms)
    .replace(/ (day|hour|minute|second)s?/g, (_, unit: string) => unit.charAt(0))
    .replace(/ ms$/, 'ms');
}
