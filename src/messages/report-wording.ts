import type { Incident } from '../domain/alert.ts';
import { dayMs } from '../domain/duration.ts';
import type { ReportAccount, ReportMessage } from '../domain/message.ts';
import { formatMoment, formatNearMoment } from '../domain/moment.ts';
import { currencyCode, formatAmount, type Micros } from '../domain/money.ts';
import { cleanText, plural } from '../domain/plain-text.ts';
import type { ForecastRecord } from '../domain/quantity.ts';
import { amountOf, type Balance, type BalanceDefinition } from '../domain/reading.ts';
import { severityRank } from '../domain/severity.ts';
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
const namesShown = 10;

interface ReportLine {
  readonly label: string;
  readonly balance: string;
  readonly perDay: string;
  readonly toppedUp: string;
  readonly runway: string;
  readonly lasts: string;
  /** The runway as a part of a sentence: `lasts 3 days`, `used up`. */
  readonly runwayClause: string;
  /** How good its forecasts were: `3-day forecasts were off by 4 % (middle of 44)`. */
  readonly forecasts: string;
}

export interface ReportAccountWording {
  readonly name: string;
  readonly id: string;
  /** None where the account was never read. */
  readonly lines: readonly ReportLine[];
  /** `2 incidents, 1 still open`. */
  readonly incidents: string;
  /** `USED UP`, `FINE`. */
  readonly state: { readonly word: string; readonly tone: Tone };
  readonly advice: string | null;
  readonly read: string;
}

export interface ReportWording {
  readonly headline: string;
  readonly period: string;
  /**
   * Accounts that may run out before the next report, and those of which nothing is known; null where no
   * report follows.
   */
  readonly runsOut: string | null;
  /** One line per currency. */
  readonly totals: readonly string[];
  readonly accounts: readonly ReportAccountWording[];
  readonly more: number;
}

/** At most `limit` accounts, shortest runway first as it comes; totals are always of all. */
export function wordReport(message: ReportMessage, limit: number): ReportWording {
  const frame = { timezone: message.timezone, now: message.at };
  const shown = message.accounts.slice(0, limit);
  return {
    headline: reportHeadline(message),
    period: `${formatMoment(message.since, frame)} to ${formatMoment(message.until, frame)}`,
    runsOut: wordRunsOut(message),
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

function soonestEnd(message: ReportMessage): { readonly name: string; readonly runwayMs: number } | null {
  let soonest: { readonly name: string; readonly runwayMs: number } | null = null;
  for (const account of message.accounts) {
    for (const { id: balance } of account.balances) {
      const runwayMs = account.runways[balance]?.runwayMs ?? null;
      if (runwayMs !== null && (soonest === null || runwayMs < soonest.runwayMs)) {
        soonest = { name: cleanText(account.name, 80), runwayMs };
      }
    }
  }
  return soonest;
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
      const runway = account.runways[balance];
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
      : `May run out ${next}: ${list(ending)}.`;
  return unknown.length === 0 ? notified : `${notified} Not known: ${list(unknown)}.`;
}

/** Never read, or too little known of its spending to say when it runs out. */
function isUnknown(account: ReportAccount): boolean {
  if (account.reading === null) return true;
  return account.balances.every(({ id: balance }) => {
    const runway = account.runways[balance];
    return !isInUse(account, balance) || (runway?.runwayMs == null && runway?.burnPerDay == null);
  });
}

function list(names: readonly string[]): string {
  const more = names.length > namesShown ? ` and ${names.length - namesShown} more` : '';
  return `${names.slice(0, namesShown).join(', ')}${more}`;
}

function totalsOf(message: ReportMessage): readonly string[] {
  const days = Math.max((message.until - message.since) / dayMs, 1 / 24);
  const byCurrency = new Map<
    string,
    { readonly currency: string; spent: Micros; toppedUp: Micros; left: Micros; soon: Micros; later: Micros }
  >();
  for (const account of message.accounts) {
    if (account.reading === null) continue;
    const currency = cleanText(account.reading.currency, 12);
    const code = currencyCode(currency);
    const sum = byCurrency.get(code) ?? { currency, spent: 0, toppedUp: 0, left: 0, soon: 0, later: 0 };
    sum.spent += sumOf(account.spent);
    sum.toppedUp += sumOf(account.toppedUp);
    sum.left += sumOf(account.reading.balances);
    for (const { micros, dueAt } of account.payments) {
      const dueInMs = (dueAt ?? message.at) - message.at;
      if (dueInMs <= soonMs) sum.soon += micros;
      if (dueInMs <= payHorizonMs) sum.later += micros;
    }
    byCurrency.set(code, sum);
  }
  return [...byCurrency.values()].map(({ currency, spent, toppedUp, left, soon, later }) => {
    const perDay = formatComputed(spent / days, currency);
    const pay =
      later === 0
        ? ''
        : `; to pay ${formatAmount(soon, currency)} within 7 days, ${formatAmount(later, currency)} within 30`;
    return `${formatAmount(left, currency)} left in all; ${formatAmount(spent, currency)} spent (${perDay} per day), ${toppedUp === 0 ? 'nothing' : formatAmount(toppedUp, currency)} topped up${pay}`;
  });
}

function sumOf(amounts: Readonly<Record<Balance, Micros>>): Micros {
  return Object.values(amounts).reduce((sum, micros) => sum + micros, 0);
}

function wordAccount(account: ReportAccount, message: ReportMessage): ReportAccountWording {
  const frame = { timezone: message.timezone, now: message.at };
  const inUse = account.balances.filter(({ id }) => isInUse(account, id));
  return {
    name: cleanText(account.name, 80) || account.id,
    id: account.id,
    lines:
      account.reading === null
        ? []
        : (inUse.length === 0 ? account.balances.slice(0, 1) : inUse).map((balance) =>
            wordLine(account, balance, message),
          ),
    incidents: wordIncidentCount(account.incidents),
    state: stateOf(account),
    advice: adviceOf(account),
    read: account.reading === null ? 'never read' : `read ${formatMoment(account.reading.at, frame)}`,
  };
}

/** The worst that holds for the account. */
function stateOf(account: ReportAccount): ReportAccountWording['state'] {
  const runways = account.balances.map(({ id }) => account.runways[id]?.runwayMs ?? soonMs);
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
  return current !== 0 || account.spent[balance] !== 0 || account.toppedUp[balance] !== 0;
}

function wordLine(
  account: ReportAccount,
  { id: balance, label }: BalanceDefinition,
  message: ReportMessage,
): ReportLine {
  const currency = account.reading === null ? null : cleanText(account.reading.currency, 12);
  const days = Math.max((message.until - message.since) / dayMs, 1 / 24);
  const tops = account.topUps.filter((topUp) => topUp.balance === balance).length;
  const toppedUp = account.toppedUp[balance] ?? 0;
  const runway = account.runways[balance] ?? null;
  const frame = { timezone: message.timezone, now: message.at };
  return {
    label,
    balance:
      account.reading === null ? 'unknown' : formatAmount(amountOf(account.reading, balance), currency),
    perDay: formatComputed((account.spent[balance] ?? 0) / days, currency),
    toppedUp: toppedUp === 0 ? 'none' : `${formatAmount(toppedUp, currency)}${tops > 1 ? ` in ${tops}` : ''}`,
    runway: wordRunwayAndEnd(runway, frame),
    lasts: wordRunway(runway),
    runwayClause: wordRunwayClause(runway, frame),
    forecasts: wordRecord(account.records[balance] ?? null),
  };
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
  const { length: count } = incidents.filter((incident) => !incident.event);
  if (count === 0) return 'no incidents';
  const open = incidents.filter((incident) => !incident.event && incident.resolvedAt === null).length;
  if (open === count) return `${plural(open, 'incident')} still open`;
  return open === 0 ? plural(count, 'incident') : `${plural(count, 'incident')}, ${open} still open`;
}

function adviceOf(account: ReportAccount): string | null {
  const currency = account.reading === null ? null : cleanText(account.reading.currency, 12);
  const parts = account.balances.flatMap(({ id: balance, label }) => {
    const restore = account.runways[balance]?.restoreMicros ?? null;
    return restore === null || restore <= 0 ? [] : [`${formatPayable(restore, currency)} on ${label}`];
  });
  return parts.length === 0 ? null : `Top up ${parts.join(' and ')} for another 30 days.`;
}
