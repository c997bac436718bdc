import type { Payment, ReportAccount, ReportMessage } from '../domain/message.ts';
import { currencyCode, type Micros } from '../domain/money.ts';
import { ownOf } from '../domain/own.ts';
import { cleanText } from '../domain/plain-text.ts';
import type { Balance } from '../domain/reading.ts';
import { sayLength } from '../wording/forecast-wording.ts';
import { type Reader, sayMoment, sayNearMoment } from '../wording/moments.ts';
import { phrases, say } from '../wording/phrase.ts';
import { sayAmount, sayComputed } from '../wording/quantity-wording.ts';
import { readerOf } from './item-wording.ts';
import { currencyOf, isUnknown, nameOf, perDayOf, soonMs, wordAccount } from './report-account-wording.ts';
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
  onlySince: 'Spending and top-ups in {currency} are known in full since {since} only.',
  onlyUntil: 'Spending and top-ups in {currency} are known in full until {until} only.',
  neverInFull: 'At no time were spending and top-ups in {currency} known in full.',
  missing:
    '{count, plural, one {# account without a reading: not in the sums.} other {# accounts without a reading: not in the sums.}}',
});

export type ReportAccountWording = ReturnType<typeof wordAccount>;

/** At most `limit` accounts in the given order, the shortest runway first; totals are always of all. */
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
    /** Accounts that may run out before the next report, and those of which nothing is known; null if no report follows. */
    runsOut: sayRunsOut(message, reader),
    /** A line per currency, with since when it is known in full; what is not in these lines; then the sums of all accounts. */
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

/** `May run out before the next report (Mon 30 Nov 09:00 UTC+8): OTP (used up).` Judged by the early end of a forecast. */
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

/** At most ten names, in their order. */
function sayFirst(names: readonly string[], reader: Reader): string {
  const shown = reader.language.list(names.slice(0, 10));
  return names.length <= 10 ? shown : say(says.andMore, { names: shown, count: names.length - 10 }, reader);
}

function totalsOf(message: ReportMessage, reader: Reader): readonly string[] {
  const read = message.accounts.filter(({ reading }) => reading !== null);
  const lines = read.flatMap((account) =>
    account.balances.map(({ id }) => ({ account, id, currency: currencyOf(account, id) ?? '' })),
  );
  const count = message.accounts.length - read.length;
  const missing = count === 0 || read.length === 0 ? [] : [say(says.missing, { count }, reader)];
  const byCurrency = [...Map.groupBy(lines, ({ currency }) => currencyCode(currency)).values()];
  return [...byCurrency.flatMap((balances) => wordTotal(balances, message, reader)), ...missing];
}

/** The balances of one currency: their sum, and since when and until when it is known in full. */
function wordTotal(
  balances: readonly { readonly account: ReportAccount; readonly id: Balance; readonly currency: string }[],
  message: ReportMessage,
  reader: Reader,
): readonly string[] {
  const currency = balances[0]?.currency ?? '';
  const frame = { ...reader, currency };
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
  const spentPerDay = perDay.reduce<Micros>((sum, micros) => sum + (micros ?? 0), 0);
  const ofDay = sayComputed(spentPerDay, frame);
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
  const sum =
    later === 0 ? say(says.total, given, reader) : say(says.totalToPay, { ...given, ...due }, reader);
  // One account may be known only since a time when another was no longer read.
  if (since >= until) return [sum, say(says.neverInFull, { currency }, reader)];
  return [
    sum,
    ...(since === 0 ? [] : [say(says.onlySince, { currency, since: sayMoment(since, reader) }, reader)]),
    ...(until < message.until
      ? [say(says.onlyUntil, { currency, until: sayMoment(until, reader) }, reader)]
      : []),
  ];
}
