import { type IncidentBand, layChart } from '../../chart/chart.ts';
import { findGaps } from '../../chart/line.ts';
import { minuteMs, weekMs } from '../../domain/duration.ts';
import {
  type Message,
  type MessageItem,
  type ReportAccount,
  type Runway,
  stateOf,
} from '../../domain/message.ts';
import { isBeyondHorizon, roughDuration } from '../../domain/moment.ts';
import { formatAmount, isSameCurrency, type Micros } from '../../domain/money.ts';
import { cleanText } from '../../domain/plain-text.ts';
import { amountOf, type Balance, type BalanceDefinition, type Reading } from '../../domain/reading.ts';
import type { Ladder } from '../../domain/rule.ts';
import { alertKindOf } from '../../rules/registry.ts';
import { balanceLabel, wordEnd } from '../../wording/quantity-wording.ts';
import type { MailChart } from './draw-chart.ts';

const maxPastMs = weekMs;
/** A line of a few readings is stretched no further than this. */
const shortestPastMs = 10 * minuteMs;
/** What is shown of the future at the most, as a share of the past. */
const aheadShare = 0.5;
/** Thinned readings of an even pace stand up to so many times further apart than their mean. */
const uneven = 4;

/**
 * Charts cost time and bytes: a group shows those of its most urgent alerts, a report those of the accounts
 * that end first.
 */
const chartsInGroup = 3;
const chartsInReport = 8;

/** A chart that a mail would like to show, with the place it belongs to and the words for those who do not see it. */
export interface ChartPlan {
  readonly cid: string;
  /** Index of the notice or account in the message. */
  readonly index: number;
  readonly drawing: MailChart;
  /** The numbers of the chart in words. */
  readonly alt: string;
}

export function planCharts(message: Message): readonly ChartPlan[] {
  switch (message.kind) {
    case 'incidents':
      return planItemCharts(message.items, message);
    case 'report':
      return message.accounts.slice(0, chartsInReport).flatMap((account, index) => {
        const plan = planReportChart(account, message, index);
        return plan === null ? [] : [plan];
      });
    case 'test':
      return [];
  }
}

interface Frame {
  readonly id: string;
  readonly at: number;
  readonly timezone: string;
}

function planItemCharts(items: readonly MessageItem[], frame: Frame): readonly ChartPlan[] {
  const seen = new Set<string>();
  const plans: ChartPlan[] = [];
  for (const [index, item] of items.slice(0, 10).entries()) {
    const balance =
      item.balance ??
      (alertKindOf(item).staleness === undefined ? null : item.account?.balances[0]?.id) ??
      null;
    if (item.account === null || balance === null || plans.length === chartsInGroup) continue;
    const key = `${item.account.id} ${balance}`;
    const plan = seen.has(key) ? null : planItemChart({ item, balance, frame, index });
    seen.add(key);
    if (plan !== null) plans.push(plan);
  }
  return plans;
}

function planItemChart(order: {
  readonly item: MessageItem;
  readonly balance: Balance;
  readonly frame: Frame;
  readonly index: number;
}): ChartPlan | null {
  const { item, frame } = order;
  const event = stateOf(item) === 'event';
  const alert = event
    ? null
    : {
        from: item.firedAt,
        to: item.resolvedAt ?? frame.at,
        severity: item.severity,
        rule: item.rule,
      };
  return planChart({
    ...order,
    balances: item.account?.balances ?? [],
    history: item.account?.history ?? [],
    runway: item.account?.runway ?? null,
    thresholds: item.account?.thresholds ?? {},
    alert,
  });
}

/** The balance that ends first, of those that moved: a level line shows nothing that its number does not. */
function planReportChart(account: ReportAccount, frame: Frame, index: number): ChartPlan | null {
  const moving = account.balances.map(({ id }) => id).filter((balance) => isMoving(account, balance));
  const [balance] = moving.toSorted((one, other) => runwayOf(account, one) - runwayOf(account, other));
  if (balance === undefined) return null;
  const { balances, history } = account;
  const runway = account.runways[balance] ?? null;
  return planChart({ balances, balance, frame, index, history, runway, thresholds: {}, alert: null });
}

function planChart(order: {
  readonly balances: readonly BalanceDefinition[];
  readonly balance: Balance;
  readonly frame: Frame;
  readonly index: number;
  readonly history: readonly Reading[];
  readonly runway: Runway | null;
  readonly thresholds: Ladder<Micros>;
  readonly alert: IncidentBand | null;
}): ChartPlan | null {
  const { balance, frame, history, alert } = order;
  const last = history.findLast(({ balances }) => balances[balance] !== undefined);
  if (last === undefined) return null;
  // Amounts of another currency are no points of this line.
  const readings = history.filter(
    ({ currency, at, balances }) =>
      isSameCurrency(currency, last.currency) &&
      at >= frame.at - maxPastMs &&
      balances[balance] !== undefined,
  );
  const [first] = readings;
  if (first === undefined || readings.length < 2) return null;
  const pastMs = Math.min(Math.max(frame.at - first.at, shortestPastMs), maxPastMs);
  const intervalMs = (uneven * (last.at - first.at)) / (readings.length - 1);
  const currency = cleanText(last.currency, 12);
  const runway = order.runway?.balance === balance ? order.runway : null;
  const chart = layChart({
    since: frame.at - pastMs,
    until: frame.at,
    now: frame.at,
    readings,
    balance,
    gaps: findGaps(
      readings.map((reading) => ({ at: reading.at, reading })),
      { until: frame.at, intervalMs, leastMs: 0 },
    ),
    maxPoints: readings.length,
    thresholds: order.thresholds,
    runway,
    aheadShare,
    incidents: alert === null ? [] : [alert],
  });
  const drawing: MailChart = {
    title: `${balanceLabel(balance, order.balances)} balance in ${currency}`,
    timezone: frame.timezone,
    forecast: runway?.forecast ?? null,
    chart,
  };
  const cid = `balance-${order.index}.${frame.id.replace(/[^A-Za-z0-9-]/g, '-')}@lowwater`;
  const course = {
    from: amountOf(first, balance),
    to: amountOf(last, balance),
    ms: last.at - first.at,
    currency,
  };
  return { cid, index: order.index, drawing, alt: wordChart(drawing, course) };
}

function wordChart(
  { title, timezone, forecast, chart: { now, emptyAt } }: MailChart,
  course: { readonly from: Micros; readonly to: Micros; readonly ms: number; readonly currency: string },
): string {
  const [from, to] = [course.from, course.to].map((amount) => formatAmount(amount, course.currency));
  const end =
    emptyAt === null || emptyAt <= now || isBeyondHorizon(emptyAt, now)
      ? ''
      : `; ${wordEnd(emptyAt, forecast, { timezone, now })}`;
  return `Chart: ${title}, from ${from} to ${to} in ${roughDuration(course.ms)}${end}.`;
}

function runwayOf(account: ReportAccount, balance: Balance): number {
  return account.runways[balance]?.runwayMs ?? Number.MAX_VALUE;
}

function isMoving(account: ReportAccount, balance: Balance): boolean {
  const [first] = account.history;
  return (
    first !== undefined &&
    account.history.some((reading) => amountOf(reading, balance) !== amountOf(first, balance))
  );
}
