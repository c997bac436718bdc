import { isSameCurrency } from '../../domain/currency.ts';
import type { Message, Notice, Outlook, ReportAccount } from '../../domain/message.ts';
import { formatMoment, isBeyondHorizon, roughDuration } from '../../domain/moment.ts';
import { formatAmount } from '../../domain/money.ts';
import { stateOf } from '../../domain/notice-state.ts';
import { cleanText } from '../../domain/plain-text.ts';
import { type Balance, balances, type Reading } from '../../domain/reading.ts';
import { alertKindOf } from '../../rules/registry.ts';
import { balanceLabel } from '../../wording/balance-wording.ts';
import type { ChartInput } from './chart-input.ts';

const dayMs = 24 * 60 * 60 * 1000;

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
  readonly input: ChartInput;
  /** The numbers of the chart in words. */
  readonly alt: string;
}

export function planCharts(message: Message): readonly ChartPlan[] {
  switch (message.kind) {
    case 'incidents':
      return planNoticeCharts(message.notices, message);
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

function planNoticeCharts(notices: readonly Notice[], frame: Frame): readonly ChartPlan[] {
  const seen = new Set<string>();
  const plans: ChartPlan[] = [];
  for (const [index, notice] of notices.slice(0, 10).entries()) {
    const balance = notice.balance ?? (alertKindOf(notice).unread === undefined ? null : 'sms');
    if (notice.account === null || balance === null || plans.length === chartsInGroup) continue;
    const key = `${notice.account.id} ${balance}`;
    const plan = seen.has(key) ? null : planNoticeChart({ notice, balance, frame, index });
    seen.add(key);
    if (plan !== null) plans.push(plan);
  }
  return plans;
}

function planNoticeChart(order: {
  readonly notice: Notice;
  readonly balance: Balance;
  readonly frame: Frame;
  readonly index: number;
}): ChartPlan | null {
  const { notice, frame } = order;
  const event = stateOf(notice) === 'event';
  const alert = event
    ? null
    : { from: notice.firedAt, to: notice.resolvedAt ?? frame.at, severity: notice.severity };
  return planChart({
    ...order,
    history: notice.account?.history ?? [],
    outlook: notice.account?.outlook ?? null,
    thresholds: notice.account?.thresholds ?? {},
    alert,
  });
}

/** The balance that ends first, of those that moved: a level line tells nothing that its number does not. */
function planReportChart(account: ReportAccount, frame: Frame, index: number): ChartPlan | null {
  const moving = balances.filter((balance) => isMoving(account, balance));
  const [balance] = moving.toSorted((one, other) => runwayOf(account, one) - runwayOf(account, other));
  if (balance === undefined) return null;
  const outlook = account.outlooks[balance];
  return planChart({ balance, frame, index, history: account.history, outlook, thresholds: {}, alert: null });
}

function planChart(order: {
  readonly balance: Balance;
  readonly frame: Frame;
  readonly index: number;
  readonly history: readonly Reading[];
  readonly outlook: Outlook | null;
  readonly thresholds: ChartInput['thresholds'];
  readonly alert: ChartInput['alert'];
}): ChartPlan | null {
  const { balance, frame, history } = order;
  const last = history.at(-1);
  if (last === undefined) return null;
  // Amounts of another currency are no points of this line.
  const points = history
    .filter(
      (reading) => isSameCurrency(reading.currency, last.currency) && reading.at >= frame.at - 7 * dayMs,
    )
    .map((reading) => ({ at: reading.at, value: reading[balance] }));
  const [first] = points;
  if (first === undefined || points.length < 2) return null;
  const currency = cleanText(last.currency, 12);
  const outlook = order.outlook?.balance === balance ? order.outlook : null;
  const input: ChartInput = {
    title: `${balanceLabel(balance)} balance in ${currency}`,
    points,
    now: frame.at,
    timezone: frame.timezone,
    thresholds: order.thresholds,
    emptyAt: outlook?.emptyAt ?? null,
    forecast: outlook?.forecast ?? null,
    alert: order.alert,
  };
  const cid = `balance-${order.index}.${frame.id.replace(/[^A-Za-z0-9-]/g, '-')}@lowwater`;
  return { cid, index: order.index, input, alt: wordChart(input, currency) };
}

function wordChart(input: ChartInput, currency: string): string {
  const [first] = input.points;
  const last = input.points.at(-1);
  if (first === undefined || last === undefined) return input.title;
  const span = roughDuration(last.at - first.at);
  const course = `from ${formatAmount(first.value, currency)} to ${formatAmount(last.value, currency)} in ${span}`;
  const end =
    input.emptyAt === null || input.emptyAt <= input.now || isBeyondHorizon(input.emptyAt, input.now)
      ? ''
      : `; empty about ${formatMoment(input.emptyAt, { timezone: input.timezone, now: input.now })}`;
  return `Chart: ${input.title}, ${course}${end}.`;
}

function runwayOf(account: ReportAccount, balance: Balance): number {
  return account.outlooks[balance]?.runwayMs ?? Number.MAX_VALUE;
}

function isMoving(account: ReportAccount, balance: Balance): boolean {
  const [first] = account.history;
  return first !== undefined && account.history.some((reading) => reading[balance] !== first[balance]);
}
