import type { Incident } from '../domain/alert.ts';
import { dayMs, hourMs } from '../domain/duration.ts';
import type { Payment, ReportAccount, ReportMessage } from '../domain/message.ts';
import { currencyCode, type Micros } from '../domain/money.ts';
import { ownOf } from '../domain/own.ts';
import { cleanText } from '../domain/plain-text.ts';
import type { ForecastRecord } from '../domain/quantity.ts';
import { amountOf, type Balance, type BalanceDefinition, unitOf } from '../domain/reading.ts';
import { severityRank } from '../domain/severity.ts';
import { capital } from '../rules/figures.ts';
import { say } from '../wording/language.ts';
import { type Reader, sayDuration, sayMoment, sayNearMoment } from '../wording/moments.ts';
import { phrases } from '../wording/phrase.ts';
import {
  sayAmount,
  sayBalance,
  sayComputed,
  sayLabel,
  sayLength,
  sayPayable,
  sayRunway,
  sayRunwayAndEnd,
  sayRunwayClause,
} from '../wording/quantity-wording.ts';
import { readerOf, type Tone } from './item-wording.ts';
import { wordSums } from './report-sums-wording.ts';

const says = phrases('report', {
  subject: 'Balance report {report}, {moment}',
  report: 'REPORT',
  headline: 'REPORT · {what}',
  accounts: '{report}: {count, plural, one {# account} other {# accounts}}',
  usedUp: '{report}: {count, plural, one {# account} other {# accounts}}, {name} is used up',
  usedUpByForecast:
    '{report}: {count, plural, one {# account} other {# accounts}}, {name} is used up by the forecast',
  endsFirst: '{report}: {count, plural, one {# account} other {# accounts}}, {name} ends first, in {length}',
  period: '{since} to {until}',
  noneRunsOut: 'No account is predicted to run out before the next report ({moment}).',
  runsOut: 'May run out before the next report ({moment}): {names}.',
  both: '{notified} Not known: {unknown}.',
  when: '{name} ({when})',
  nowUsedUp: 'used up',
  andMore: '{names} and {count} more',
  total: '{left} left in all; {spending}, {toppedUp} topped up',
  totalToPay:
    '{left} left in all; {spending}, {toppedUp} topped up; to pay {soon} within 7 days, {later} within 30',
  spent: '{amount} spent',
  spentPerDay: '{amount} spent ({perDay} per day)',
  nothing: 'nothing',
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
  onlySince: 'Spending and top-ups in {currency} are known in full since {since} only.',
  onlyUntil: 'Spending and top-ups in {currency} are known in full until {until} only.',
  missing:
    '{count, plural, one {# account without a reading: not in the sums.} other {# accounts without a reading: not in the sums.}}',
  noIncidents: 'no incidents',
  stillOpen: '{count, plural, one {# incident} other {# incidents}} still open',
  incidents: '{count, plural, one {# incident} other {# incidents}}',
  someOpen: '{count, plural, one {# incident} other {# incidents}}, {open} still open',
  amountOn: '{amount} on {label}',
  advice: 'Top up {amounts} for another 30 days.',
  topUp: 'Top up {amounts}.',
});

const soonMs = 7 * dayMs;
/** A share of forecasts that is no coincidence. */
const mostly = 0.7;

export type ReportAccountWording = ReturnType<typeof wordAccount>;

/** At most `limit` accounts, shortest runway first as it comes; totals are always of all. */
export function wordReport(message: ReportMessage, limit: number) {
  const reader = readerOf(message);
  const shown = message.accounts.slice(0, limit);
  const what = sayWhatEndsFirst(message, reader);
  return {
    headline: say(says.headline, { what }, reader),
    /** The headline's two halves, for places that set them apart. */
    kindWord: say(says.report, reader),
    what,
    period: say(
      says.period,
      { since: sayMoment(message.since, reader), until: sayMoment(message.until, reader) },
      reader,
    ),
    /** Accounts that may run out before the next report, and those of which nothing is known; null where no report follows. */
    runsOut: sayRunsOut(message, reader),
    /** A line per currency, with since when it is known in full; what is not in them; then what all come to. */
    totals: [...totalsOf(message, reader), ...wordSums(message, reader)],
    accounts: shown.map((account) => wordAccount(account, message, reader)),
    more: message.accounts.length - shown.length,
  };
}

/** `Balance report weekly, Fri 20 Nov 09:00 UTC+8`. */
export function reportSubject(message: ReportMessage): string {
  const reader = readerOf(message);
  const moment = sayMoment(message.until, reader);
  return say(says.subject, { report: cleanText(message.reportId, 63), moment }, reader);
}

function sayWhatEndsFirst(message: ReportMessage, reader: Reader): string {
  const soonest = soonestEnd(message);
  const given = { report: cleanText(message.reportId, 63), count: message.accounts.length };
  if (soonest === null) return say(says.accounts, given, reader);
  const { name, runwayMs, isEndPredicted } = soonest;
  return runwayMs <= 0
    ? say(isEndPredicted ? says.usedUpByForecast : says.usedUp, { ...given, name }, reader)
    : say(says.endsFirst, { ...given, name, length: sayLength(runwayMs, reader) }, reader);
}

function soonestEnd({ accounts }: ReportMessage) {
  const ends = accounts.flatMap(({ name, balances, runways }) =>
    balances.flatMap(({ id }) => {
      const { runwayMs = null, isEndPredicted = false } = ownOf(runways, id) ?? {};
      return runwayMs === null ? [] : [{ name: cleanText(name, 80), runwayMs, isEndPredicted }];
    }),
  );
  return ends.toSorted((left, right) => left.runwayMs - right.runwayMs)[0] ?? null;
}

/** `May run out before the next report (Mon 30 Nov 09:00 UTC+8): OTP (used up).` By the early end of a forecast. */
function sayRunsOut(message: ReportMessage, reader: Reader): string | null {
  const { nextAt, at: now } = message;
  if (nextAt === null) return null;
  const ending = message.accounts.flatMap((account) => {
    const ends = account.balances.flatMap(({ id: balance }) => {
      const runway = ownOf(account.runways, balance);
      if (runway?.runwayMs != null && runway.runwayMs <= 0) return [now];
      const { emptyAt = null, forecast = null } = runway ?? {};
      return emptyAt !== null && (forecast?.earliest ?? emptyAt) < nextAt ? [emptyAt] : [];
    });
    if (ends.length === 0) return [];
    const end = Math.min(...ends);
    const when = end <= now ? say(says.nowUsedUp, reader) : sayNearMoment(end, reader);
    return [say(says.when, { name: nameOf(account), when }, reader)];
  });
  const unknown = message.accounts.filter(isUnknown).map(nameOf);
  const moment = sayMoment(nextAt, reader);
  const notified =
    ending.length === 0
      ? say(says.noneRunsOut, { moment }, reader)
      : say(says.runsOut, { moment, names: sayFirst(ending, reader) }, reader);
  return unknown.length === 0
    ? notified
    : say(says.both, { notified, unknown: sayFirst(unknown, reader) }, reader);
}

function nameOf({ id, name }: ReportAccount): string {
  return cleanText(name, 80) || id;
}

/** Ten at most, in their order. */
function sayFirst(names: readonly string[], reader: Reader): string {
  const shown = reader.language.list(names.slice(0, 10));
  return names.length <= 10 ? shown : say(says.andMore, { names: shown, count: names.length - 10 }, reader);
}

/** Never read, or too little known of its spending to say when it runs out. */
function isUnknown(account: ReportAccount): boolean {
  if (account.reading === null) return true;
  return account.balances.every(({ id: balance }) => {
    const runway = ownOf(account.runways, balance);
    return !isInUse(account, balance) || (runway?.runwayMs == null && runway?.burnPerDay == null);
  });
}

function totalsOf(message: ReportMessage, reader: Reader): readonly string[] {
  const read = message.accounts.filter(({ reading }) => reading !== null);
  const lines = read.flatMap((account) =>
    account.balances.map(({ id }) => ({ account, id, currency: currencyOf(account, id) ?? '' })),
  );
  const count = message.accounts.length - read.length;
  const missing = count === 0 || read.length === 0 ? [] : [say(says.missing, { count }, reader)];
  const byCurrency = [...Map.groupBy(lines, ({ currency }) => currencyCode(currency)).values()];
  const totals = byCurrency.flatMap((balances) => {
    const frame = { ...reader, currency: balances[0]?.currency ?? null };
    const amount = (micros: Micros): string => sayAmount(micros, frame);
    const total = (of: (account: ReportAccount, balance: Balance) => Micros | undefined): Micros =>
      balances.reduce((sum, { account, id }) => sum + (of(account, id) ?? 0), 0);
    const toPay = (isCounted: (payment: Payment) => boolean): Micros =>
      total(({ payments }, balance) =>
        payments
          .filter((each) => each.balance === balance && isCounted(each))
          .reduce((sum, { micros }) => sum + micros, 0),
      );
    const spent = total((account, id) => ownOf(account.spent, id));
    const toppedUp = total((account, id) => ownOf(account.toppedUp, id));
    const left = total(({ reading }, id) => ownOf(reading?.balances, id));
    const soon = toPay(({ dueAt }) => (dueAt ?? message.at) - message.at <= soonMs);
    const later = toPay(() => true);
    const perDay = balances.map(({ account, id }) => perDayOf(account, id, message));
    const isKnown = perDay.every((micros) => micros !== null);
    const ofDay = sayComputed(
      perDay.reduce<Micros>((sum, micros) => sum + (micros ?? 0), 0),
      frame,
    );
    const given = {
      left: amount(left),
      spending: isKnown
        ? say(says.spentPerDay, { amount: amount(spent), perDay: ofDay }, reader)
        : say(says.spent, { amount: amount(spent) }, reader),
      toppedUp: toppedUp === 0 ? say(says.nothing, reader) : amount(toppedUp),
    };
    const due = { soon: amount(soon), later: amount(later) };
    const since = Math.max(...balances.map(({ account }) => account.spentSince ?? 0));
    const until = Math.min(...balances.map(({ account }) => account.spentUntil ?? message.until));
    const currency = frame.currency ?? '';
    return [
      later === 0 ? say(says.total, given, reader) : say(says.totalToPay, { ...given, ...due }, reader),
      ...(since === 0 ? [] : [say(says.onlySince, { currency, since: sayMoment(since, reader) }, reader)]),
      ...(until < message.until
        ? [say(says.onlyUntil, { currency, until: sayMoment(until, reader) }, reader)]
        : []),
    ];
  });
  return [...totals, ...missing];
}

function wordAccount(account: ReportAccount, message: ReportMessage, reader: Reader) {
  const { reading, balances, id } = account;
  const inUse = balances.filter((balance) => isInUse(account, balance.id));
  const read =
    reading === null
      ? say(says.neverRead, reader)
      : say(says.read, { moment: sayMoment(reading.at, reader) }, reader);
  const incidents = sayIncidentCount(account.incidents, reader);
  // None where the account was never read.
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

/** The worst that holds for the account. */
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

/** A balance that stays at zero says nothing. */
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
    /** Null where nothing was. */
    toppedUp: toppedUp === 0 ? null : count > 1 ? say(says.topUps, { amount, count }, reader) : amount,
    runway: sayRunwayAndEnd(runway, reader),
    lasts: sayRunway(runway, reader),
    /** The runway as a part of a sentence: `lasts 3 days`, `used up`. */
    runwayClause: sayRunwayClause(runway, reader),
    /** The record of its forecasts: `forecasts 3 days ahead were off by 4 % in the middle of the last two weeks`. */
    forecasts: sayRecord(ownOf(records, balance) ?? null, reader),
  };
}

function currencyOf({ reading, balances }: ReportAccount, balance: Balance): string | null {
  const unit = unitOf({ balances, currency: reading?.currency ?? null }, balance);
  return unit === null ? null : cleanText(unit, 12);
}

/**
 * The time in which its spending is known: an account that is watched since Thursday, or not read since then, spent that in days, not in a
 * week. Null of less than an hour: no day follows from half a minute.
 */
function perDayOf(
  { spent, spentSince = 0, spentUntil = Number.POSITIVE_INFINITY }: ReportAccount,
  balance: Balance,
  { since, until }: ReportMessage,
): Micros | null {
  const watchedMs = Math.min(until, spentUntil) - Math.max(since, spentSince);
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
    const label = account.balances.find(({ id }) => id === balance)?.label ?? balance;
    const amount = sayPayable(micros, { ...reader, currency: currencyOf(account, balance) });
    return say(says.amountOn, { amount, label: sayLabel(label, reader) }, reader);
  });
  if (amounts.length === 0) return null;
  const isThirtyDays = account.payments.every(({ covers }) => covers === 'thirty-days');
  const given = { amounts: reader.language.list(amounts, 'and') };
  return say(isThirtyDays ? says.advice : says.topUp, given, reader);
}
