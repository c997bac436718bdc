import type { MessageItem, Runway } from '../domain/message.ts';
import { formatBareDistinctFrom, isUnit, type Micros } from '../domain/money.ts';
import { ownOf } from '../domain/own.ts';
import { cleanText } from '../domain/plain-text.ts';
import type { Fact, Forecast, Quantity } from '../domain/quantity.ts';
import type { Balance, BalanceDefinition } from '../domain/reading.ts';
import { isBeyondHorizon } from '../domain/time.ts';
import { endOf, isGuess, sayEmptyAt, sayLength } from './forecast-wording.ts';
import { english } from './language.ts';
import { type Reader, sayDuration, sayMoment, sayMomentAndAge } from './moments.ts';
import { type Listener, phrases, say, sentences } from './phrase.ts';
import { balanceSays, sayAgain } from './say-again.ts';

const micros = 1_000_000;

/** The reader of numbers, with the currency of amounts. */
export interface WordingFrame extends Reader {
  readonly currency: string | null;
}

const says = phrases('quantity', {
  about: 'about {amount}',
  usedUp: 'used up',
  usedUpByForecast: 'used up by the forecast',
  notFalling: 'not falling',
  unknown: 'unknown',
  unknownLength: 'how long it lasts is unknown',
  lasts: 'lasts {length}',
  lastsUncertain: 'lasts for an uncertain time, {end}',
  lengthAndEnd: '{length}, {end}',
  emptyAbout: 'empty about {moment}',
  empty: 'empty {when}',
  emptyByMean: 'empty {when} (by the mean only: little history)',
  emptyByDays: 'empty {when} (by days only: little history)',
  payNow: 'now',
});

const labels = sentences('quantity', {
  smsBalance: 'SMS balance',
  voipBalance: 'VoIP balance',
  sms: 'SMS',
  voip: 'VoIP',
  balance: 'Balance',
});

export function sayQuantity(quantity: Quantity, frame: WordingFrame): string {
  switch (quantity.unit) {
    case 'money':
      return sayAmount(quantity.micros, frame);
    case 'duration':
      return sayDuration(quantity.ms, frame);
    case 'text':
      return sayAgain(cleanText(quantity.text, 300), frame);
  }
}

/** The name of the fact whose value is a factor. */
export const timesTheUsual = 'times the usual';

export function sayFact({ name, value }: Fact, frame: WordingFrame): string {
  // A channel's name stays as it is. A factor is the only figure among texts.
  if (value.unit === 'text' && name === 'channel') return cleanText(value.text, 300);
  if (value.unit === 'text' && /^\d+\.\d$/.test(value.text) && name === timesTheUsual)
    return frame.language.figure(value.text);
  if (value.unit === 'instant') return sayMomentAndAge(value.at, frame);
  return value.unit === 'count' ? String(value.count) : sayQuantity(value, frame);
}

/** `1,234.50`, with enough decimals never to look equal to a different amount `beside` it. */
export function sayBareAmount(micros: Micros, { language, currency }: Amounts, beside = micros): string {
  return language.figure(formatBareDistinctFrom(micros, beside, currency));
}

/** `1,234.50 CNY`; without a currency if none is known. */
export function sayAmount(micros: Micros, { language, currency }: Amounts, beside = micros): string {
  const figure = sayBareAmount(micros, { language, currency }, beside);
  return currency === null || currency === '' ? figure : `${figure} ${currency}`;
}

type Judged = Pick<MessageItem, 'value' | 'threshold'>;

/** The measured value; null if nothing could be measured. */
export function sayValue({ value, threshold }: Judged, frame: WordingFrame): string | null {
  return value && sayBeside(value, threshold, frame);
}

/** The threshold, by default without currency, because it stands next to an amount that has one. */
export function sayLimit(
  { threshold, value }: Judged,
  frame: WordingFrame,
  sayMoney = sayBareAmount,
): string | null {
  return threshold && sayBeside(threshold, value, frame, sayMoney);
}

/** A quantity, rounded so that it never looks like the other. */
export function sayBeside(
  quantity: Quantity,
  other: Quantity | null,
  frame: WordingFrame,
  sayMoney = sayAmount,
): string {
  if (quantity.unit !== 'money') return sayQuantity(quantity, frame);
  return sayMoney(quantity.micros, frame, other?.unit === 'money' ? other.micros : quantity.micros);
}

type Amounts = Pick<WordingFrame, 'language' | 'currency'>;

export function sayComputed(amount: Micros, frame: Amounts): string {
  return sayAmount(computed(amount), frame);
}

/** Rounds computed money to its useful digits: two decimals, four below one unit, all below the fourth decimal. */
export function computed(amount: Micros): Micros {
  const size = Math.abs(amount);
  const below = size < 100 ? 1 : 100;
  const step = size < micros ? below : 10_000;
  return Math.round(amount / step) * step;
}

/** The amount that a person would pay: rounded up to two significant digits, never down, and up to whole ones if the unit is no money. */
export function payable(amount: Micros, currency: string | null): Micros {
  let step = isUnit(currency ?? '') ? micros : 10_000;
  while (amount / step > 99) step *= 10;
  return Math.ceil(amount / step) * step;
}

export function sayPayable(amount: Micros, frame: Amounts): string {
  return sayAmount(payable(amount, frame.currency), frame);
}

/** `1,900 CNY`: whole ones without decimals, for headlines. */
export function sayShortPayable(amount: Micros, frame: Amounts): string {
  return sayPayable(amount, frame).replace(/[.,]00(?= |$)/, '');
}

/** A rise of the balance, which is the payment less the spending meanwhile: digits past the third are noise, so `about 3,000.00 CNY`. */
export function sayRise(amount: Micros, frame: Amounts): string {
  let step = 10_000;
  while (amount / step >= 1000) step *= 10;
  const rounded = Math.round(amount / step) * step;
  const said = sayAmount(rounded === 0 ? amount : rounded, frame);
  return rounded === amount || rounded === 0 ? said : say(says.about, { amount: said }, frame);
}

/** `3 days 9 hours`, `used up`, `not falling`, `unknown`. */
export function sayRunway(runway: Runway | null, reader: Listener): string {
  const length = lengthOf(runway);
  return typeof length === 'number' ? sayLength(length, reader) : say(says[length], reader);
}

function lengthOf(runway: Runway | null): number | 'usedUp' | 'usedUpByForecast' | 'notFalling' | 'unknown' {
  if (runway === null) return 'unknown';
  const { runwayMs, burnPerDay } = runway;
  if (runwayMs === null) return burnPerDay === 0 ? 'notFalling' : 'unknown';
  if (runwayMs > 0) return runwayMs;
  return runway.isEndPredicted ? 'usedUpByForecast' : 'usedUp';
}

/** `lasts 3 days 9 hours, empty about …`, `used up`, `how long it lasts is unknown`. */
export function sayRunwayClause(runway: Runway | null, reader: Reader): string {
  const length = lengthOf(runway);
  if (length === 'unknown') return say(says.unknownLength, reader);
  if (typeof length !== 'number') return say(says[length], reader);
  const whole = sayRunwayAndEnd(runway, reader);
  return endOf(runway, reader.now) !== null && isGuess(runway?.forecast ?? null, reader.now)
    ? say(says.lastsUncertain, { end: whole }, reader)
    : say(says.lasts, { length: whole }, reader);
}

/** `3 days 9 hours, empty about Tue 24 Nov 11:30 UTC+8`. */
export function sayRunwayAndEnd(runway: Runway | null, reader: Reader): string {
  const length = sayRunway(runway, reader);
  const emptyAt = endOf(runway, reader.now);
  if (emptyAt === null) return length;
  const end = sayEnd(emptyAt, runway?.forecast ?? null, reader);
  return isGuess(runway?.forecast ?? null, reader.now)
    ? end
    : say(says.lengthAndEnd, { length, end }, reader);
}

/** `empty Thu 26 Nov 14:00 UTC+8, between Wed 25 Nov 22:00 UTC+8 and Fri 27 Nov 09:00 UTC+8`. */
export function sayEnd(emptyAt: number, forecast: Forecast | null, reader: Reader): string {
  if (forecast?.earliest == null) return say(says.emptyAbout, { moment: sayMoment(emptyAt, reader) }, reader);
  const phrase = {
    'hour-of-week': says.empty,
    'hour-of-day': says.emptyByDays,
    'mean-burn': says.emptyByMean,
  };
  return say(phrase[forecast.basis], { when: sayEmptyAt(emptyAt, forecast, reader) }, reader);
}

/** `Thu 26 Nov 14:00 UTC+8`, `now`; null if no lead time is known. */
export function sayPayBy(runway: Runway | null, reader: Reader, sayAt = sayMoment): string | null {
  const payBy = runway?.payBy ?? null;
  if (payBy === null || isBeyondHorizon(payBy, reader.now)) return null;
  return payBy <= reader.now ? say(says.payNow, reader) : sayAt(payBy, reader);
}

/** `SMS`: the word before "balance", "spending", "runway". The id of a balance that is no longer configured. */
export function balanceLabel(balance: Balance, balances: readonly BalanceDefinition[]): string {
  const label = balances.find(({ id }) => id === balance)?.label ?? balance;
  return cleanText(label, 60) || balance;
}

const usualLabels: ReadonlyMap<string, readonly [name: () => string, balance: () => string]> = new Map([
  ['SMS', [labels.sms, labels.smsBalance]],
  ['VoIP', [labels.voip, labels.voipBalance]],
  ['Balance', [labels.balance, labels.balance]],
]);

export function sayLabel(label: string, reader: Listener): string {
  const [name] = usualLabels.get(label) ?? [];
  return name === undefined ? label : sayAgain(name(), reader);
}

/** `SMS balance`; for a balance that is called `Balance`, only that. */
export function sayBalance(label: string, reader: Listener): string {
  const [, usual] = usualLabels.get(label) ?? [];
  if (usual !== undefined) return sayAgain(usual(), reader);
  return /\bbalance$/i.test(label) ? label : say(balanceSays.namedBalance, { label }, reader);
}

/** `SMS balance`, for the command line, logs and errors. */
export function balanceName(label: string): string {
  return sayBalance(label, { language: english });
}

/** The balances that all of these lists name alike, for the columns of a table; null if they differ. */
export function commonBalances(
  lists: Iterable<readonly BalanceDefinition[]>,
): readonly BalanceDefinition[] | null {
  const [first = [], ...others] = new Set(lists);
  const isSame = (list: readonly BalanceDefinition[]): boolean =>
    list.length === first.length &&
    list.every(({ id, label }, place) => id === first[place]?.id && label === first[place].label);
  return others.every(isSame) ? first : null;
}

/** The balance that runs out first: people see it first, and accounts are sorted by it. If none runs out, the first of the account. */
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
    if (runway !== null && runway < (ownOf(runways, leading)?.runwayMs ?? Number.POSITIVE_INFINITY))
      leading = id;
  }
  return leading;
}
