import { formatMoney } from '../../domain/money.ts';
import type { Balance } from '../../domain/reading.ts';
import { isWorse, type Severity } from '../../domain/severity.ts';
import type { ReplayedIncident } from '../../replay/incident-book.ts';
import { balanceLevels } from '../../rules/about-rules.ts';
import { rulesForAccount } from '../../rules/rules-for-account.ts';
import { drawChart, layPast } from '../terminal/chart.ts';
import { cutToWidth, padToWidth } from '../terminal/display-width.ts';
import { paintSeverity } from '../terminal/output.ts';
import type { AccountTrace, ReplayReport } from './account-trace.ts';

const chartHeight = 12;
const widest = 160;
const maxLabelLength = 20;
/** Between the label and the drawing: a space and the axis. */
const axisWidth = 2;

/** The balances that rules watch as curves, and under them one line a rule with the times in which it fired. */
export function drawTimeline(
  report: ReplayReport,
  trace: AccountTrace,
  incidents: readonly ReplayedIncident[],
): string[] {
  const { settings, stdout } = report;
  const rules = rulesForAccount(settings, trace.account);
  const watched = trace.account.balances
    .map(({ id }) => id)
    .filter((balance) => rules.some((rule) => rule.balance === balance));
  const width = Math.min(stdout.columns, widest);
  const fired = [...new Set(incidents.map(({ rule }) => rule))];
  const labelWidth = Math.max(
    ...fired.map((rule) => Math.min(rule.length, maxLabelLength)),
    ...watched.map((balance) => maxAmountLength(trace, balance)),
  );
  if (trace.readings.length < 2 || trace.until <= trace.since) return [];
  const charts = watched.flatMap((balance) => [
    stdout.style.dim(`${balance.toUpperCase()} balance`),
    ...drawChart({
      // They were thinned: only a long pause is one of the readings.
      chart: layPast(
        { ...trace, balance, thresholds: balanceLevels(rules, balance) },
        (trace.until - trace.since) / 50,
      ),
      timezone: settings.timezone,
      width,
      height: chartHeight,
      formatValue: (value) => padToWidth(formatMoney(value), labelWidth, 'right'),
      style: stdout.style,
    }),
  ]);
  const cells = Math.max(10, width - labelWidth - axisWidth);
  const lines = fired.map((rule) => {
    const label = padToWidth(cutToWidth(rule, maxLabelLength), labelWidth, 'right');
    const its = incidents.filter((incident) => incident.rule === rule);
    return `${stdout.style.dim(`${label} │`)}${drawRule(its, { ...trace, cells, report })}`;
  });
  return [...charts, ...lines, ''];
}

/** Labels of one width put the curves and the lines under one another. */
function maxAmountLength({ readings }: AccountTrace, balance: Balance): number {
  const most = readings.reduce(
    (width, reading) => Math.max(width, formatMoney(reading.balances[balance] ?? 0).length),
    0,
  );
  return Math.min(maxLabelLength, most + 1);
}

interface Strip {
  readonly since: number;
  readonly until: number;
  readonly cells: number;
  readonly report: ReplayReport;
}

/** A block where the rule fired, a mark where something happened; the worst severity of each cell gives the colour. */
function drawRule(incidents: readonly ReplayedIncident[], { since, until, cells, report }: Strip): string {
  const worst: (Severity | null)[] = Array.from({ length: cells }, () => null);
  const cellOf = (at: number) =>
    Math.min(cells - 1, Math.max(0, Math.floor(((at - since) / (until - since)) * cells)));
  for (const incident of incidents) {
    const end = incident.event ? incident.firedAt : (incident.resolvedAt ?? until);
    for (let cell = cellOf(incident.firedAt); cell <= cellOf(end); cell++) {
      const known = worst[cell] ?? null;
      if (known === null || isWorse(incident.severity, known)) worst[cell] = incident.severity;
    }
  }
  const mark = incidents[0]?.event === true ? '▲' : '█';
  return worst
    .map((severity) => (severity === null ? ' ' : paintSeverity(report.stdout.style, severity, mark)))
    .join('')
    .trimEnd();
}
