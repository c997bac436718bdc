import type { Incident } from '../domain/alert.ts';
import type { ReportAccount, ReportMessage } from '../domain/message.ts';
import type { Micros } from '../domain/money.ts';
import { ownOf } from '../domain/own.ts';
import { capital, cleanCurrency, cleanText } from '../domain/plain-text.ts';
import type { ForecastRecord } from '../domain/quantity.ts';
import { amountOf, type Balance, type BalanceDefinition, unitOf } from '../domain/reading.ts';
import { severityRank } from '../domain/severity.ts';
import { dayMs, hourMs } from '../domain/time.ts';
import { type Reader, sayDuration, sayMoment } from '../wording/moments.ts';
import { phrases, say } from '../wording/phrase.ts';
import {
  balanceLabel,
  sayAmount,
  sayBalance,
  sayComputed,
  sayLabel,
  sayPayable,
  sayRunway,
  sayRunwayAndEnd,
  sayRunwayClause,
} from '../wording/quantity-wording.ts';
import type { Tone } from './item-wording.ts';

const says = phrases('report', {
  neverRead: 'never read',
  read: 'read {moment}',
  isUsedUp: 'USED UP',
  isNeverRead: 'NEVER READ',
  isNotRead: 'NOT READ',
  endsSoon: 'ENDS SOON',
  fine: 'FINE',
  openIncidents: '{count, plural, one {OPEN INCIDENT} other {OPEN INCIDENTS}}',
  notRead: 'unknown',
  perDay: '{amount} per day',
  perDayUnknown: 'an unknown amount per day',
  topUps: '{amount} in {count}',
  noRecord: 'how good forecasts are is not known yet',
  record: 'in the last two weeks forecasts for {ahead} ahead were usually off by {percent} %',
  recordLow:
    'in the last two weeks forecasts for {ahead} ahead were usually off by {percent} %, mostly too low',
  recordHigh:
    'in the last two weeks forecasts for {ahead} ahead were usually off by {percent} %, mostly too high',
  status: '{incidents}, {read}',
  statusOnlySince: '{incidents}, {read}; known since {since} only',
  statusOnlyUntil: '{incidents}, {read}; known until {until} only',
  noIncidents: 'no incidents',
  stillOpen: '{count, plural, one {# incident} other {# incidents}} still open',
  incidents: '{count, plural, one {# incident} other {# incidents}}',
  someOpen: '{count, plural, one {# incident} other {# incidents}}, {open} still open',
  amountOn: '{amount} on {label}',
  advice: 'Top up {amounts} for another 30 days.',
  topUp: 'Top up {amounts}.',
});

/** An end or a payment within this time is soon. */
export const soonMs = 7 * dayMs;
/** A larger share of forecasts that err in one direction is no coincidence. */
const mostly = 0.7;

export function nameOf({ id, name }: ReportAccount): string {
  return cleanText(name, 80) || id;
}

/** Whether the account was never read, or too little is known of its spending to say when it runs out. */
export function isUnknown(account: ReportAccount): boolean {
  if (account.reading === null) return true;
  return account.balances.every(({ id: balance }) => {
    const runway = ownOf(account.runways, balance);
    return !isInUse(account, balance) || (runway?.runwayMs == null && runway?.burnPerDay == null);
  });
}

/** The account as a report shows it: a line for each balance in use, its state, and what to pay. */
export function wordAccount(account: ReportAccount, message: ReportMessage, reader: Reader) {
  const { reading, balances, id } = account;
  const inUse = balances.filter((balance) => isInUse(account, balance.id));
  const read =
    reading === null
      ? say(says.neverRead, reader)
      : say(says.read, { moment: sayMoment(reading.at, reader) }, reader);
  const incidents = sayIncidentCount(account.incidents, reader);
  // An account that was never read shows no balance.
  const shown = reading === null ? [] : inUse.length === 0 ? balances.slice(0, 1) : inUse;
  return {
    name: nameOf(account),
    id,
    lines: shown.map((balance) => wordLine(account, balance, message, reader)),
    /** `2 incidents, 1 still open, read Fri 20 Nov 02:37 UTC+8; known since Thu 19 Nov 11:02 UTC+8 only`. */
    status: sayStatus(account, { incidents, read }, reader),
    /** `USED UP`, `FINE`. */
    state: stateOf(account, reader),
    advice: adviceOf(account, reader),
    read,
  };
}

function sayStatus(
  { spentSince, spentUntil }: ReportAccount,
  given: { readonly incidents: string; readonly read: string },
  reader: Reader,
): string {
  if (spentSince !== undefined)
    return say(says.statusOnlySince, { ...given, since: sayMoment(spentSince, reader) }, reader);
  if (spentUntil !== undefined)
    return say(says.statusOnlyUntil, { ...given, until: sayMoment(spentUntil, reader) }, reader);
  return say(says.status, given, reader);
}

/** The worst state that applies to the account. */
function stateOf(account: ReportAccount, reader: Reader): { readonly word: string; readonly tone: Tone } {
  const runways = account.balances.map(({ id }) => ownOf(account.runways, id)?.runwayMs ?? soonMs);
  const shortest = Math.min(...runways);
  if (shortest <= 0) return { word: say(says.isUsedUp, reader), tone: 'critical' };
  if (account.reading === null) return { word: say(says.isNeverRead, reader), tone: 'warning' };
  if (shortest < soonMs) return { word: say(says.endsSoon, reader), tone: 'warning' };
  const open = account.incidents
    .filter((incident) => !incident.event && incident.resolvedAt === null)
    .toSorted((left, right) => severityRank(right.severity) - severityRank(left.severity));
  const [worst] = open;
  if (worst !== undefined)
    return { word: say(says.openIncidents, { count: open.length }, reader), tone: worst.severity };
  return account.reading.at <= (account.spentUntil ?? 0)
    ? { word: say(says.isNotRead, reader), tone: 'warning' }
    : { word: say(says.fine, reader), tone: 'good' };
}

/** Whether a balance is in use. One that stays at zero says nothing. */
function isInUse(account: ReportAccount, balance: Balance): boolean {
  const current = account.reading === null ? 0 : amountOf(account.reading, balance);
  return current !== 0 || ownOf(account.spent, balance) !== 0 || ownOf(account.toppedUp, balance) !== 0;
}

function wordLine(
  account: ReportAccount,
  { id: balance, label }: BalanceDefinition,
  message: ReportMessage,
  reader: Reader,
) {
  const { reading, topUps, runways, records } = account;
  const frame = { ...reader, currency: currencyOf(account, balance) };
  const count = topUps.filter((topUp) => topUp.balance === balance).length;
  const toppedUp = ownOf(account.toppedUp, balance) ?? 0;
  const runway = ownOf(runways, balance) ?? null;
  const amount = sayAmount(toppedUp, frame);
  const perDay = perDayOf(account, balance, message);
  return {
    label: sayLabel(label, reader),
    balanceName: capital(sayBalance(label, reader)),
    balance: reading === null ? say(says.notRead, reader) : sayAmount(amountOf(reading, balance), frame),
    perDay:
      perDay === null
        ? say(says.perDayUnknown, reader)
        : say(says.perDay, { amount: sayComputed(perDay, frame) }, reader),
    /** Null if nothing was topped up. */
    toppedUp: toppedUp === 0 ? null : count > 1 ? say(says.topUps, { amount, count }, reader) : amount,
    runway: sayRunwayAndEnd(runway, reader),
    lasts: sayRunway(runway, reader),
    /** The runway as a part of a sentence: `lasts 3 days`, `used up`. */
    runwayClause: sayRunwayClause(runway, reader),
    /** The record of its forecasts: `forecasts 3 days ahead were off by 4 % in the middle of the last two weeks`. */
    forecasts: sayRecord(ownOf(records, balance) ?? null, reader),
  };
}

export function currencyOf({ reading, balances }: ReportAccount, balance: Balance): string | null {
  const unit = unitOf({ balances, currency: reading?.currency ?? null }, balance);
  return unit === null ? null : cleanCurrency(unit);
}

/**
 * The spending per day of the time that was watched: an account that is watched only since Thursday, or was not read since then, spent its
 * sum in days, not in a week. Null for less than an hour: half a minute says nothing about a day.
 */
export function perDayOf(
  { spent, spentSince = 0, watchedSince = spentSince, spentUntil = Number.POSITIVE_INFINITY }: ReportAccount,
  balance: Balance,
  { since, until }: ReportMessage,
): Micros | null {
  const watchedMs = Math.min(until, spentUntil) - Math.max(since, watchedSince);
  return watchedMs < hourMs ? null : ((ownOf(spent, balance) ?? 0) * dayMs) / watchedMs;
}

/** The record covers two weeks, even in a monthly report: older forecasts are not kept. */
function sayRecord(record: ForecastRecord | null, reader: Reader): string {
  if (record === null) return say(says.noRecord, reader);
  const { aheadMs, medianError, tooLow } = record;
  const phrase = tooLow > mostly ? says.recordLow : tooLow < 1 - mostly ? says.recordHigh : says.record;
  const percent = Math.round(medianError * 100);
  return say(phrase, { ahead: sayDuration(aheadMs, reader), percent }, reader);
}

function sayIncidentCount(incidents: readonly Incident[], reader: Reader): string {
  const counted = incidents.filter(({ event }) => !event);
  const open = counted.filter(({ resolvedAt }) => resolvedAt === null).length;
  const given = { count: counted.length, open };
  if (counted.length === 0) return say(says.noIncidents, reader);
  if (open === counted.length) return say(says.stillOpen, given, reader);
  return open === 0 ? say(says.incidents, given, reader) : say(says.someOpen, given, reader);
}

function adviceOf(account: ReportAccount, reader: Reader): string | null {
  const amounts = account.payments.map(({ balance, micros }) => {
    const amount = sayPayable(micros, { ...reader, currency: currencyOf(account, balance) });
    return say(
      says.amountOn,
      { amount, label: sayLabel(balanceLabel(balance, account.balances), reader) },
      reader,
    );
  });
  if (amounts.length === 0) return null;
  const isThirtyDays = account.payments.every(({ covers }) => covers === 'thirty-days');
  const given = { amounts: reader.language.list(amounts, 'and') };
  return say(isThirtyDays ? says.advice : says.topUp, given, reader);
}
