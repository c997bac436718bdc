import { dayMs } from '../domain/duration.ts';
import type { Runway } from '../domain/message.ts';
import { formatMoment, formatMomentAndAge, isBeyondHorizon, roughDuration } from '../domain/moment.ts';
import { formatAmount, formatBare, isUnit, type Micros } from '../domain/money.ts';
import { ownOf } from '../domain/own.ts';
import { cleanText } from '../domain/plain-text.ts';
import type { Fact, Forecast, Quantity } from '../domain/quantity.ts';
import type { Balance, BalanceDefinition } from '../domain/reading.ts';

const micros = 1_000_000;
const yearMs = 365 * dayMs;

/** Turns numbers into words: the zone and instant of the message, and the currency of the account. */
export interface WordingFrame {
  readonly timezone: string;
  readonly now: number;
  readonly currency: string | null;
}

type ReaderFrame = Pick<WordingFrame, 'timezone' | 'now'>;

/** How instants are said: in full, or as short as it stays clear. */
interface MomentFrame {
  readonly now: number;
  readonly moment: (at: number) => string;
}

export function wordQuantity(quantity: Quantity, frame: WordingFrame): string {
  switch (quantity.unit) {
    case 'money':
      return formatAmount(quantity.micros, frame.currency);
    case 'duration':
      return roughDuration(quantity.ms);
    case 'text':
      return cleanText(quantity.text, 300);
  }
}

export function wordFact(fact: Fact, frame: WordingFrame): string {
  switch (fact.value.unit) {
    case 'instant':
      return formatMomentAndAge(fact.value.at, frame);
    case 'count':
      return String(fact.value.count);
    default:
      return wordQuantity(fact.value, frame);
  }
}

/** Two decimals, four below one unit: computed money has no more useful digits. */
export function formatComputed(amount: Micros, currency: string | null): string {
  return formatAmount(computed(amount), currency);
}

/** As `formatComputed`, where the currency stands elsewhere. */
export function formatBareComputed(amount: Micros, currency: string | null): string {
  return formatBare(computed(amount), currency);
}

function computed(amount: Micros): Micros {
  const step = Math.abs(amount) < micros ? 100 : 10_000;
  return Math.round(amount / step) * step;
}

/** What a person would pay: rounded up to two significant digits, never down, and up to whole ones where a unit is no money. */
export function payable(amount: Micros, currency: string | null): Micros {
  let step = isUnit(currency ?? '') ? micros : 10_000;
  while (amount / step > 99) step *= 10;
  return Math.ceil(amount / step) * step;
}

export function formatPayable(amount: Micros, currency: string | null): string {
  return formatAmount(payable(amount, currency), currency);
}

/**
 * A rise is the payment less what was spent before the next reading: digits past the third are noise, so
 * `about 3,000.00 CNY`. An amount that needs no rounding is exact.
 */
export function formatRise(amount: Micros, currency: string | null): string {
  let step = 10_000;
  while (amount / step >= 1000) step *= 10;
  const rounded = Math.round(amount / step) * step;
  return rounded === amount || rounded === 0
    ? formatAmount(amount, currency)
    : `about ${formatAmount(rounded, currency)}`;
}

/** `over a year` beyond a year: nobody plans by days then. `rough` words shorter ones. */
export function roughRunway(ms: number, rough: (ms: number) => string = roughDuration): string {
  return ms > yearMs ? 'over a year' : rough(ms);
}

/** When a balance ends, if within a year. */
export function endOf(runway: Runway | null, now: number): number | null {
  const emptyAt = runway?.emptyAt ?? null;
  return emptyAt === null || emptyAt <= now || emptyAt - now > yearMs ? null : emptyAt;
}

/** `between Wed 22:00 and Fri 09:00`: the 80 % range. Null where it is unknown. */
export function wordInterval(forecast: Forecast | null, { now, moment }: MomentFrame): string | null {
  const { earliest = null, latest = null } = forecast ?? {};
  if (earliest === null) return null;
  const until = latest === null || isBeyondHorizon(latest, now) ? 'much later' : moment(latest);
  return `between ${moment(Math.max(earliest, now))} and ${until}`;
}

/**
 * Whether the 80 % range is so wide that a date in it says nothing: it ends more than a day and more than four times as far ahead as it
 * begins. Such forecasts are off by a third in the middle. The mean burn says by itself how little is known.
 */
export function isGuess(forecast: Forecast | null, now: number): boolean {
  if (forecast?.earliest == null || forecast.basis === 'mean-burn') return false;
  const lastMs = (forecast.latest ?? Number.POSITIVE_INFINITY) - now;
  return lastMs > dayMs && lastMs > 4 * (forecast.earliest - now);
}

/** `Thu 14:00, between Wed 22:00 and Fri 09:00`, or `between Wed 22:00 and Tue 09:00, not known well`. */
export function wordEmptyAt(emptyAt: number, forecast: Forecast | null, frame: MomentFrame): string {
  const interval = wordInterval(forecast, frame);
  if (interval === null) return frame.moment(emptyAt);
  return isGuess(forecast, frame.now)
    ? `${interval}, not known well`
    : `${frame.moment(emptyAt)}, ${interval}`;
}

/** `3 days 9 hours`, `used up`, `not falling`, `unknown`. */
export function wordRunway(runway: Runway | null): string {
  if (runway === null) return 'unknown';
  const { runwayMs, burnPerDay } = runway;
  if (runwayMs !== null && runwayMs <= 0) return 'used up';
  if (burnPerDay === null) return 'unknown';
  if (runwayMs === null) return 'not falling';
  return roughRunway(runwayMs);
}

/** `lasts 3 days 9 hours, empty about …`, `used up`, `how long it lasts is unknown`. */
export function wordRunwayClause(runway: Runway | null, frame: ReaderFrame): string {
  const length = wordRunway(runway);
  if (length === 'used up' || length === 'not falling') return length;
  return length === 'unknown' ? 'how long it lasts is unknown' : `lasts ${wordRunwayAndEnd(runway, frame)}`;
}

/** `3 days 9 hours, empty about Tue 24 Nov 11:30 UTC+8`. */
export function wordRunwayAndEnd(runway: Runway | null, frame: ReaderFrame): string {
  const length = wordRunway(runway);
  const emptyAt = endOf(runway, frame.now);
  if (emptyAt === null) return length;
  return `${length}, ${wordEnd(emptyAt, runway?.forecast ?? null, frame)}${wordPayBy(runway, frame)}`;
}

/** `empty Thu 26 Nov 14:00 UTC+8, between Wed 25 Nov 22:00 UTC+8 and Fri 27 Nov 09:00 UTC+8`. */
export function wordEnd(emptyAt: number, forecast: Forecast | null, frame: ReaderFrame): string {
  const moment = (at: number): string => formatMoment(at, frame);
  if (forecast?.earliest == null) return `empty about ${moment(emptyAt)}`;
  const { basis } = forecast;
  const low =
    basis === 'hour-of-week'
      ? ''
      : ` (by ${basis === 'mean-burn' ? 'the mean' : 'days'} only: little history)`;
  return `empty ${wordEmptyAt(emptyAt, forecast, { now: frame.now, moment })}${low}`;
}

function wordPayBy(runway: Runway | null, frame: ReaderFrame): string {
  const payBy = runway?.payBy ?? null;
  if (payBy === null || isBeyondHorizon(payBy, frame.now)) return '';
  return payBy <= frame.now ? '; pay now' : `; pay by ${formatMoment(payBy, frame)}`;
}

/** `SMS`: what stands before "balance", "spending", "runway"; the id of one that is not among these any more. */
export function balanceLabel(balance: Balance, balances: readonly BalanceDefinition[]): string {
  return balances.find(({ id }) => id === balance)?.label ?? balance;
}

/** `SMS balance`; of a balance that is called `Balance`, just that. */
export function balanceName(label: string): string {
  return /\bbalance$/i.test(label) ? label : `${label} balance`;
}

/** The balances that all of these lists name alike, for the columns of a table; null where they differ. */
export function commonBalances(
  lists: Iterable<readonly BalanceDefinition[]>,
): readonly BalanceDefinition[] | null {
  const [first = [], ...others] = new Set(lists);
  const isSame = (list: readonly BalanceDefinition[]): boolean =>
    list.length === first.length &&
    list.every(({ id, label }, place) => id === first[place]?.id && label === first[place].label);
  return others.every(isSame) ? first : null;
}

/** The balance that runs out first: the one that people see first and accounts are sorted by. Where none does, the first of the account. */
export function leadingBalance({
  runways,
  balances,
}: {
  readonly runways: Readonly<Record<Balance, Pick<Runway, 'runwayMs'> | null>>;
  readonly balances: readonly BalanceDefinition[];
}): Balance {
  let leading = balances[0]?.id ?? '';
  for (const { id } of balances) {
    const runway = ownOf(runways, id)?.runwayMs ?? null;
    if (runway !== null && runway < (runways[leading]?.runwayMs ?? Number.POSITIVE_INFINITY)) leading = id;
  }
  return leading;
}
