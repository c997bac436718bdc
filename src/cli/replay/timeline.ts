import { formatBare, type Micros } from '../../domain/money.ts';
import { ownOf } from '../../domain/own.ts';
import { type Balance, type Reading, unitOf } from '../../domain/reading.ts';
import type { AccountSettings, Settings } from '../../domain/settings.ts';
import { isWorse, type Severity } from '../../domain/severity.ts';
import type { ReplayedIncident } from '../../replay/incident-book.ts';
import type { SurveyedPast } from '../../replay/past.ts';
import type { ReplayObserver } from '../../replay/replay-engine.ts';
import { balanceLevels } from '../../rules/registry.ts';
import { rulesForAccount } from '../../rules/rules-for-account.ts';
import { thin } from '../../spending/thin.ts';
import { drawChart, layPast } from '../terminal/chart.ts';
import { type Output, paintSeverity } from '../terminal/output.ts';
import { cutToWidth, padToWidth } from '../terminal/text.ts';

/** More points than a terminal has dots; fewer if so many accounts are drawn that there would be too many. */
const chartPoints = 2000;
const maxPoints = 200_000;
/** Points per stretch: the first, the last and the extremes of both balances. */
const pointsPerStretch = 6;

/** The picture of an account: its readings, oldest first, thinned stretch by stretch. */
interface Trace {
  readonly account: AccountSettings;
  readonly since: number;
  readonly until: number;
  readonly readings: Reading[];
  readonly stretchMs: number;
  /** The readings of the present stretch, not thinned yet. */
  stretch: Reading[];
  stretchEndsAt: number;
}

/** Collects the points of all accounts while they are replayed. */
export class Traces implements ReplayObserver {
  readonly #traces = new Map<string, Trace>();

  begins(accounts: readonly SurveyedPast[]): void {
    const points = Math.min(chartPoints, Math.floor(maxPoints / accounts.length));
    const stretches = Math.max(1, Math.floor(points / pointsPerStretch));
    for (const { account, firstAt: since, lastAt: until } of accounts) {
      const stretchMs = (until - since) / stretches;
      const begun = { readings: [], stretch: [], stretchEndsAt: -Infinity };
      this.#traces.set(account.id, { account, since, until, stretchMs, ...begun });
    }
  }

  read({ settings }: { readonly settings: AccountSettings }, reading: Reading): void {
    const trace = this.#traces.get(settings.id);
    if (trace === undefined) return;
    if (reading.at >= trace.stretchEndsAt) {
      endStretch(trace);
      trace.stretchEndsAt = reading.at + trace.stretchMs;
    }
    trace.stretch.push(reading);
  }

  /** Null for an account without a past. */
  of(id: string): Trace | null {
    const trace = this.#traces.get(id) ?? null;
    if (trace !== null) endStretch(trace);
    return trace;
  }
}

function endStretch(trace: Trace): void {
  trace.readings.push(...thin(trace.stretch, pointsPerStretch));
  trace.stretch = [];
}

const chartHeight = 12;
const widest = 160;
const maxLabelLength = 20;
const axisWidth = 2;

/** The balances that rules watch as curves, and below them one line per rule with the times at which it fired. */
export function drawTimeline(
  { settings, stdout }: { readonly settings: Settings; readonly stdout: Output },
  trace: Trace,
  incidents: readonly ReplayedIncident[],
): string[] {
  const { account, since, until, readings } = trace;
  if (readings.length < 2 || until <= since) return [];
  const rules = rulesForAccount(settings, account);
  const watched = account.balances
    .map(({ id }) => id)
    .filter((balance) => rules.some((rule) => rule.balance === balance));
  const { style } = stdout;
  const width = Math.min(stdout.columns, widest);
  const currency = readings.at(-1)?.currency ?? null;
  const formatOf = (balance: Balance) => (value: Micros) =>
    formatBare(value, unitOf({ ...account, currency }, balance));
  const byRule = Map.groupBy(incidents, ({ rule }) => rule);
  // Labels of equal width align the curves and the lines.
  const labelWidth = Math.max(
    ...[...byRule.keys()].map((rule) => Math.min(rule.length, maxLabelLength)),
    ...watched.map((balance) => maxAmountLength(readings, balance, formatOf(balance))),
  );
  const label = (text: string): string => padToWidth(text, labelWidth, 'right');
  const charts = watched.flatMap((balance) => [
    style.dim(`${balance.toUpperCase()} balance`),
    ...drawChart({
      // The readings are thinned, so only a long pause counts as a gap.
      chart: layPast({ ...trace, balance, thresholds: balanceLevels(rules, balance) }, (until - since) / 50),
      timezone: settings.timezone,
      width,
      height: chartHeight,
      formatValue: (value) => label(formatOf(balance)(value)),
      style,
    }),
  ]);
  const cells = Math.max(10, width - labelWidth - axisWidth);
  const lines = [...byRule].map(([rule, own]) => {
    const mark = own[0]?.event === true ? '▲' : '█';
    const strip = worstByCell(own, trace, cells)
      .map((severity) => (severity === null ? ' ' : paintSeverity(style, severity, mark)))
      .join('');
    return `${style.dim(`${label(cutToWidth(rule, maxLabelLength))} │`)}${strip.trimEnd()}`;
  });
  return [...charts, ...lines, ''];
}

function maxAmountLength(
  readings: readonly Reading[],
  balance: Balance,
  format: (value: Micros) => string,
): number {
  const most = readings.reduce(
    (width, reading) => Math.max(width, format(ownOf(reading.balances, balance) ?? 0).length),
    0,
  );
  return Math.min(maxLabelLength, most + 1);
}

/** The worst severity with which a rule fired in each cell of its line; null if it did not fire. */
function worstByCell(
  incidents: readonly ReplayedIncident[],
  { since, until }: Trace,
  cells: number,
): readonly (Severity | null)[] {
  const worst = Array.from<Severity | null>({ length: cells }).fill(null);
  const cellOf = (at: number) =>
    Math.min(cells - 1, Math.max(0, Math.floor(((at - since) / (until - since)) * cells)));
  for (const { event, severity, firedAt, resolvedAt } of incidents)
    for (let cell = cellOf(firedAt); cell <= cellOf(event ? firedAt : (resolvedAt ?? until)); cell++) {
      const known = worst[cell] ?? null;
      if (known === null || isWorse(severity, known)) worst[cell] = severity;
    }
  return worst;
}
