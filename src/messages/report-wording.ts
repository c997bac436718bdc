import type { Incident } from '../domain/alert.ts';
import { dayMs } from '../domain/duration.ts';
import type { ReportAccount, ReportMessage } from '../domain/message.ts';
import { formatMoment, formatNearMoment } from '../domain/moment.ts';
import { currencyCode, formatAmount, type Micros } from '../domain/money.ts';
import { ownOf } from '../domain/own.ts';
import { cleanText, plural } from '../domain/plain-text.ts';
import type { ForecastRecord } from '../domain/quantity.ts';
import { amountOf, type Balance, type BalanceDefinition } from '../domain/reading.ts';
import { severityRank } from '../domain/severity.ts';
import { listFirst } from '../wording/lists.ts';
import {
  formatComputed,
  formatPayable,
  roughRunway,
  wordRunway,
  wordRunwayAndEnd,
  wordRunwayClause,
} from '../wording/quantity-wording.ts';
import type { Tone } from './item-wording.ts';

const soonMs = 7 * dayMs;
const payHorizonMs = 30 * dayMs;
/** A share of forecasts that is no coincidence. */
const mostly = 0.7;

export type ReportAccountWording = ReturnType<typeof wordAccount>;

/** At most `limit` accounts, shortest runway first as it comes; totals are always of all. */
export function wordReport(message: ReportMessage, limit: number) {
  const frame = { timezone: message.timezone, now: message.at };
  const shown = message.accounts.slice(0, limit);
  return {
    headline: reportHeadline(message),
    period: `${formatMoment(message.since, frame)} to ${formatMoment(message.until, frame)}`,
    /** Accounts that may run out before the next report, and those of which nothing is known; null where no report follows. */
    runsOut: wordRunsOut(message),
    /** One line per currency. */
    totals: totalsOf(message),
    accounts: shown.map((account) => wordAccount(account, message)),
    more: message.accounts.length - shown.length,
  };
}

/** `Balance report weekly, Fri 20 Nov 09:00 UTC+8`. */
export function reportSubject(message: ReportMessage): string {
  const until = formatMoment(message.until, { timezone: message.timezone, now: message.at });
  return `Balance report ${cleanText(message.reportId, 63)}, ${until}`;
}

function reportHeadline(message: ReportMessage): string {
  const soonest = soonestEnd(message);
  const accounts = plural(message.accounts.length, 'account');
  const report = `REPORT · ${cleanText(message.reportId, 63)}: ${accounts}`;
  if (soonest === null) return report;
  if (soonest.runwayMs <= 0) return `${report}, ${soonest.name} is used up`;
  return `${report}, ${soonest.name} ends first, in ${roughRunway(soonest.runwayMs)}`;
}

function soonestEnd({ accounts }: ReportMessage) {
  const ends = accounts.flatMap(({ name, balances, runways }) =>
    balances.flatMap(({ id }) => {
      const runwayMs = ownOf(runways, id)?.runwayMs ?? null;
      return runwayMs === null ? [] : [{ name: cleanText(name, 80), runwayMs }];
    }),
  );
  return ends.toSorted((left, right) => left.runwayMs - right.runwayMs)[0] ?? null;
}

/**
 * `May run out before the next report (Mon 30 Nov 09:00 UTC+8): OTP (used up), Marketing (Thu 14:00). Not known: Batch.` By the early end of
 * a forecast.
 */
function wordRunsOut(message: ReportMessage): string | null {
  const { nextAt, at: now, timezone } = message;
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
    const when = end <= now ? 'used up' : formatNearMoment(end, { timezone, now });
    return [`${cleanText(account.name, 80) || account.id} (${when})`];
  });
  const unknown = message.accounts.filter(isUnknown).map(({ id, name }) => cleanText(name, 80) || id);
  const next = `before the next report (${formatMoment(nextAt, { timezone, now })})`;
  const notified =
    ending.length === 0
      ? `No account is predicted to run out ${next}.`
      : `May run out ${next}: ${listFirst(ending)}.`;
  return unknown.length === 0 ? notified : `${notified} Not known: ${listFirst(unknown)}.`;
}

/** Never read, or too little known of its spending to say when it runs out. */
function isUnknown(account: ReportAccount): boolean {
  if (account.reading === null) return true;
  return account.balances.every(({ id: balance }) => {
    const runway = ownOf(account.runways, balance);
    return !isInUse(account, balance) || (runway?.runwayMs == null && runway?.burnPerDay == null);
  });
}

function totalsOf(message: ReportMessage): readonly string[] {
  const byCurrency = Map.groupBy(
    message.accounts.filter(({ reading }) => reading !== null),
    (account) => currencyCode(currencyOf(account) ?? ''),
  );
  return [...byCurrency.values()].map((accounts) => {
    const amount = (micros: Micros): string => formatAmount(micros, currency);
    const currency = accounts[0] === undefined ? null : currencyOf(accounts[0]);
    const total = (of: (account: ReportAccount) => Iterable<Micros>): Micros =>
      accounts.flatMap((account) => [...of(account)]).reduce((sum, micros) => sum + micros, 0);
    const dueWithin = (ms: number): Micros =>
      total(({ payments }) =>
        payments.filter(({ dueAt }) => (dueAt ?? message.at) - message.at <= ms).map(({ micros }) => micros),
      );
    const spent = total((account) => Object.values(account.spent));
    const toppedUp = total((account) => Object.values(account.toppedUp));
    const left = total(({ reading }) => Object.values(reading?.balances ?? {}));
    const later = dueWithin(payHorizonMs);
    const pay =
      later === 0 ? '' : `; to pay ${amount(dueWithin(soonMs))} within 7 days, ${amount(later)} within 30`;
    const perDay = formatComputed(spent / daysOf(message), currency);
    return `${amount(left)} left in all; ${amount(spent)} spent (${perDay} per day), ${toppedUp === 0 ? 'nothing' : amount(toppedUp)} topped up${pay}`;
  });
}

function wordAccount(account: ReportAccount, message: ReportMessage) {
  const frame = { timezone: message.timezone, now: message.at };
  const { reading, balances, name, id, incidents } = account;
  const inUse = balances.filter((balance) => isInUse(account, balance.id));
  // None where the account was never read.
  const shown = reading === null ? [] : inUse.length === 0 ? balances.slice(0, 1) : inUse;
  return {
    name: cleanText(name, 80) || id,
    id,
    lines: shown.map((balance) => wordLine(account, balance, message)),
    /** `2 incidents, 1 still open`. */
    incidents: wordIncidentCount(incidents),
    /** `USED UP`, `FINE`. */
    state: stateOf(account),
    advice: adviceOf(account),
    read: reading === null ? 'never read' : `read ${formatMoment(reading.at, frame)}`,
  };
}

/** The worst that holds for the account. */
function stateOf(account: ReportAccount): { readonly word: string; readonly tone: Tone } {
  const runways = account.balances.map(({ id }) => ownOf(account.runways, id)?.runwayMs ?? soonMs);
  const shortest = Math.min(...runways);
  if (shortest <= 0) return { word: 'USED UP', tone: 'critical' };
  if (account.reading === null) return { word: 'NEVER READ', tone: 'warning' };
  if (shortest < soonMs) return { word: 'ENDS SOON', tone: 'warning' };
  const open = account.incidents
    .filter((incident) => !incident.event && incident.resolvedAt === null)
    .toSorted((left, right) => severityRank(right.severity) - severityRank(left.severity));
  const [worst] = open;
  return worst === undefined
    ? { word: 'FINE', tone: 'good' }
    : { word: open.length === 1 ? 'OPEN INCIDENT' : 'OPEN INCIDENTS', tone: worst.severity };
}

/** A balance that stays at zero says nothing. */
function isInUse(account: ReportAccount, balance: Balance): boolean {
  const current = account.reading === null ? 0 : amountOf(account.reading, balance);
  return current !== 0 || ownOf(account.spent, balance) !== 0 || ownOf(account.toppedUp, balance) !== 0;
}

function wordLine(account: ReportAccount, { id: balance, label }: BalanceDefinition, message: ReportMessage) {
  const { reading, topUps, runways, spent, records } = account;
  const currency = currencyOf(account);
  const tops = topUps.filter((topUp) => topUp.balance === balance).length;
  const toppedUp = ownOf(account.toppedUp, balance) ?? 0;
  const runway = ownOf(runways, balance) ?? null;
  const frame = { timezone: message.timezone, now: message.at };
  return {
    label,
    balance: reading === null ? 'unknown' : formatAmount(amountOf(reading, balance), currency),
    perDay: formatComputed((ownOf(spent, balance) ?? 0) / daysOf(message), currency),
    toppedUp: toppedUp === 0 ? 'none' : `${formatAmount(toppedUp, currency)}${tops > 1 ? ` in ${tops}` : ''}`,
    runway: wordRunwayAndEnd(runway, frame),
    lasts: wordRunway(runway),
    /** The runway as a part of a sentence: `lasts 3 days`, `used up`. */
    runwayClause: wordRunwayClause(runway, frame),
    /** How good its forecasts were: `3-day forecasts were off by 4 % (middle of 44)`. */
    forecasts: wordRecord(ownOf(records, balance) ?? null),
  };
}

function currencyOf({ reading }: ReportAccount): string | null {
  return reading === null ? null : cleanText(reading.currency, 12);
}

function daysOf({ since, until }: ReportMessage): number {
  return Math.max((until - since) / dayMs, 1 / 24);
}

/** Of two weeks, even in a monthly report: older forecasts are not kept. */
function wordRecord(record: ForecastRecord | null): string {
  if (record === null) return 'how good forecasts are is not known yet';
  const { aheadMs, count, medianError, tooLow } = record;
  const side = tooLow > mostly ? ', mostly too low' : tooLow < 1 - mostly ? ', mostly too high' : '';
  const percent = Math.round(medianError * 100);
  return `${aheadMs / dayMs}-day forecasts of the last two weeks were off by ${percent} % (middle of ${count}${side})`;
}

function wordIncidentCount(incidents: readonly Incident[]): string {
  const counted = incidents.filter(({ event }) => !event);
  const open = counted.filter(({ resolvedAt }) => resolvedAt === null).length;
  if (counted.length === 0) return 'no incidents';
  if (open === counted.length) return `${plural(open, 'incident')} still open`;
  return `${plural(counted.length, 'incident')}${open === 0 ? '' : `, ${open} still open`}`;
}

function adviceOf(account: ReportAccount): string | null {
  const parts = account.balances.flatMap(({ id: balance, label }) => {
    const restore = ownOf(account.runways, balance)?.restoreMicros ?? null;
    return restore === null || restore <= 0
      ? []
      : [`${formatPayable(restore, currencyOf(account))} on ${label}`];
  });
  return parts.length === 0 ? null : `Top up ${parts.join(' and ')} for another 30 days.`;
}
