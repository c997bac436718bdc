import { plural } from '../../domain/moment.ts';
import type { ReplayResult } from '../../replay/history-replay.ts';
import type { ReplayedIncident } from '../../replay/incident-book.ts';
import type { ReplayedMessage } from '../../replay/message-count.ts';
import { layoutWidth, type Output } from '../terminal/output.ts';
import { formatTable } from '../terminal/table.ts';
import { formatLocal } from '../terminal/time.ts';
import { shortLength } from './format-replay.ts';

const weekMs = 7 * 86_400_000;

interface RuleTotal {
  readonly rule: string;
  readonly type: string;
  incidents: number;
  critical: number;
  accounts: Set<string>;
  firingMs: number;
  longestMs: number;
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
      { header: 'ACCOUNTS', align: 'right', rank: 3, value: ({ accounts }) => String(accounts.size) },
      { header: 'FIRING', align: 'right', rank: 1, value: ({ firingMs }) => lengthOrNothing(firingMs) },
      { header: 'LONGEST', align: 'right', rank: 5, value: ({ longestMs }) => lengthOrNothing(longestMs) },
    ],
    rows: sumByRule(incidents, until),
    width: layoutWidth(stdout),
    style: stdout.style,
  }).trimEnd();
}

/** How many messages, in all and a week, and when most of them came. */
export function formatMessages(
  messages: readonly ReplayedMessage[],
  { since, until }: { readonly since: number; readonly until: number },
): string {
  if (messages.length === 0) return 'No message would have been sent.';
  const byChannel = countBy(messages, ({ channel }) => channel);
  const channels = [...byChannel].map(([channel, count]) => `${channel} ${count}`).join(', ');
  const total = `${plural(messages.length, 'message')} (${channels})`;
  const weeks = (until - since) / weekMs;
  if (weeks <= 1) return `${total}.`;
  const byWeek = countBy(messages, ({ at }) => Math.floor((at - since) / weekMs));
  const [busiest, most] = [...byWeek].reduce((left, right) => (right[1] > left[1] ? right : left));
  const rate = (messages.length / weeks).toFixed(1);
  return `${total}: ${rate} a week, at most ${most} in the week from ${formatLocal(since + busiest * weekMs)}.`;
}

function sumByRule(incidents: readonly ReplayedIncident[], until: number): RuleTotal[] {
  const totals = new Map<string, RuleTotal>();
  for (const { incident } of incidents) {
    const { rule, type } = incident;
    const total = totals.get(rule) ?? {
      rule,
      type,
      incidents: 0,
      critical: 0,
      accounts: new Set(),
      firingMs: 0,
      longestMs: 0,
    };
    totals.set(rule, total);
    const lengthMs = incident.event ? 0 : Math.max(0, (incident.resolvedAt ?? until) - incident.firedAt);
    total.incidents += 1;
    total.critical += incident.worstSeverity === 'critical' ? 1 : 0;
    total.accounts.add(incident.account);
    total.firingMs += lengthMs;
    total.longestMs = Math.max(total.longestMs, lengthMs);
  }
  return [...totals.values()].sort((left, right) => right.incidents - left.incidents);
}

function lengthOrNothing(ms: number): string {
  return ms === 0 ? '' : shortLength(ms);
}

function countBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, number> {
  const counts = new Map<Key, number>();
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1);
  return counts;
}
