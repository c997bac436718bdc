import { type IncidentBand, layChart } from '../../chart/chart.ts';
import {
  type Message,
  type MessageItem,
  type ReportAccount,
  type Runway,
  stateOf,
} from '../../domain/message.ts';
import { isSameCurrency, type Micros } from '../../domain/money.ts';
import { ownOf } from '../../domain/own.ts';
import { cleanCurrency } from '../../domain/plain-text.ts';
import { amountOf, type Balance, unitOf } from '../../domain/reading.ts';
import type { Ladder } from '../../domain/rule.ts';
import { isBeyondHorizon, minuteMs, weekMs } from '../../domain/time.ts';
import { readerOf } from '../../messages/item-wording.ts';
import { alertKindOf } from '../../rules/registry.ts';
import { english } from '../../wording/language.ts';
import { sayDuration } from '../../wording/moments.ts';
import { phrases, say } from '../../wording/phrase.ts';
import { balanceLabel, sayAmount, sayBalance, sayEnd } from '../../wording/quantity-wording.ts';
import type { MailChart } from './draw-chart.ts';

const maxPastMs = weekMs;
const shortestPastMs = 10 * minuteMs;
const aheadShare = 0.5;
/** Thinned readings of an even pace lie up to this many times further apart than their mean distance. */
const uneven = 4;

/** Charts cost time and bytes: only the most urgent alerts, and the accounts that end first, have one. */
const chartsInGroup = 3;
const chartsInReport = 8;

const says = phrases('chart', {
  title: '{balance} in {currency}',
  alt: 'Chart: {title}, from {from} to {to} in {span}.',
  altWithEnd: 'Chart: {title}, from {from} to {to} in {span}; {end}.',
});

type Frame = Pick<Message, 'id' | 'at' | 'timezone' | 'language'>;

/** A chart that a mail would like to show, with the place it belongs to and the words for those who do not see it. */
export interface ChartPlan {
  readonly cid: string;
  /** Index of the item or account in the message. */
  readonly index: number;
  readonly drawing: MailChart;
  readonly alt: string;
}

export function planCharts(message: Message): readonly ChartPlan[] {
  if (message.kind === 'incidents') return planItemCharts(message.items, message);
  if (message.kind === 'test') return [];
  return message.accounts
    .slice(0, chartsInReport)
    .flatMap((account, index) => planReportChart(account, message, index) ?? []);
}

function planItemCharts(items: readonly MessageItem[], frame: Frame): readonly ChartPlan[] {
  const seen = new Set<string>();
  const plans: ChartPlan[] = [];
  for (const [index, item] of items.slice(0, 10).entries()) {
    const { account, firedAt: from, severity, rule } = item;
    const isAboutAll = alertKindOf(item).staleness !== undefined;
    const balance = item.balance ?? (isAboutAll ? account?.balances[0]?.id : null);
    if (account === null || balance == null || plans.length === chartsInGroup) continue;
    const key = `${account.id} ${balance}`;
    if (seen.has(key)) continue;
    seen.add(key);
    const band = { from, to: item.resolvedAt ?? frame.at, severity, rule };
    const incidents = stateOf(item) === 'event' ? [] : [band];
    const plan = planChart({ ...account, balance, incidents }, frame, index);
    if (plan !== null) plans.push(plan);
  }
  return plans;
}

/** The balance that ends first, of those that moved: a level line shows nothing that its number does not. */
function planReportChart(account: ReportAccount, frame: Frame, index: number): ChartPlan | null {
  const runwayOf = (balance: Balance): number =>
    ownOf(account.runways, balance)?.runwayMs ?? Number.MAX_VALUE;
  const moving = account.balances.map(({ id }) => id).filter((balance) => isMoving(account, balance));
  const [balance] = moving.toSorted((one, other) => runwayOf(one) - runwayOf(other));
  if (balance === undefined) return null;
  const runway = ownOf(account.runways, balance) ?? null;
  return planChart({ ...account, balance, runway, thresholds: {}, incidents: [] }, frame, index);
}

function planChart(
  subject: Pick<ReportAccount, 'balances' | 'history'> & {
    readonly balance: Balance;
    readonly runway: Runway | null;
    readonly thresholds: Ladder<Micros>;
    readonly incidents: readonly IncidentBand[];
  },
  message: Frame,
  index: number,
): ChartPlan | null {
  const { balance, history, balances, thresholds, incidents } = subject;
  const { id, at, timezone } = message;
  const reader = readerOf(message);
  const last = history.findLast((reading) => ownOf(reading.balances, balance) !== undefined);
  if (last === undefined) return null;
  // Amounts in another currency are not points of this line.
  const readings = history.filter(
    (reading) =>
      isSameCurrency(reading.currency, last.currency) &&
      reading.at >= at - maxPastMs &&
      ownOf(reading.balances, balance) !== undefined,
  );
  const [first] = readings;
  if (first === undefined || readings.length < 2) return null;
  const pastMs = Math.min(Math.max(at - first.at, shortestPastMs), maxPastMs);
  const intervalMs = (uneven * (last.at - first.at)) / (readings.length - 1);
  const currency = cleanCurrency(unitOf({ balances, currency: last.currency }, balance));
  const runway = subject.runway?.balance === balance ? subject.runway : null;
  const chart = layChart({
    since: at - pastMs,
    until: at,
    now: at,
    readings,
    balance,
    intervalMs,
    thresholds,
    runway,
    aheadShare,
    incidents,
  });
  const name = sayBalance(balanceLabel(balance, balances), reader);
  const title = say(says.title, { balance: name, currency }, reader);
  const forecast = runway?.forecast ?? null;
  const [from = '', to = ''] = [first, last].map((reading) =>
    sayAmount(amountOf(reading, balance), { ...reader, currency }),
  );
  const { emptyAt } = chart;
  const given = { title, from, to, span: sayDuration(last.at - first.at, reader) };
  const isEnding = emptyAt !== null && emptyAt > at && !isBeyondHorizon(emptyAt, at);
  const isEnglish = reader.language === english;
  return {
    cid: `balance-${index}.${id.replace(/[^A-Za-z0-9-]/g, '-')}@lowwater`,
    index,
    // The font of the picture has Latin letters only: in other languages the mail says next to the picture what it shows.
    drawing: { title: isEnglish ? title : currency, isWorded: isEnglish, timezone, forecast, chart },
    alt: isEnding
      ? say(says.altWithEnd, { ...given, end: sayEnd(emptyAt, forecast, reader) }, reader)
      : say(says.alt, given, reader),
  };
}

function isMoving(account: ReportAccount, balance: Balance): boolean {
  // Readings from before the balance was configured lack it.
  return new Set(account.history.flatMap(({ balances }) => ownOf(balances, balance) ?? [])).size > 1;
}
