import { timingSafeEqual } from 'node:crypto';
import type { Runway } from '../domain/message.ts';
import type { Micros } from '../domain/money.ts';
import { type AnnouncedRun, type ExpectedTopUp, missingOf } from '../domain/operator.ts';
import { ownOf } from '../domain/own.ts';
import { cleanText } from '../domain/plain-text.ts';
import type { Forecast } from '../domain/quantity.ts';
import { type Balance, unitOf } from '../domain/reading.ts';
import { dayMs, isoDay } from '../domain/time.ts';
import { planPayments } from '../views/payment-plan.ts';
import type { AccountView } from '../views/views.ts';
import { endOf, isGuess } from '../wording/forecast-wording.ts';
import { labelled } from '../wording/lists.ts';
import { sayMoment } from '../wording/moments.ts';
import { phrases, say } from '../wording/phrase.ts';
import { balanceLabel, sayAmount, sayBalance, sayLabel } from '../wording/quantity-wording.ts';
import { accountsOf } from './page/alerts.ts';
import type { Frame, Scope } from './page/words.ts';
import { known } from './refusal.ts';
import { digestOf } from './session.ts';

export const calendarMediaType = 'text/calendar; charset=utf-8';

const maxNamed = 20;
/** RFC 5545 3.1: a line has at most 75 octets, without its line end. */
const maxOctets = 75;

const says = phrases('calendarFile', {
  name: 'lowwater: pay',
  pay: 'Pay {amount}: {account}',
  payNow: 'Pay now {amount}: {account}',
  payWhy: '{balance}, for another 30 days',
  payRun: '{balance}, until the money of the next pay run arrives',
  payClears: '{balance}, to clear its alerts',
  payUnknown: '{balance}, to clear its alerts: not enough history yet to say how much covers 30 days',
  expected: 'Expected {amount}: {account}',
  run: 'Announced run of {amount}: {account}',
  usedUp: '{account}: {label} used up',
  usedUpByForecast: '{account}: {label} used up by the forecast',
  empty: '{account}: {label} empty',
  forecast: 'By the forecast',
  forecastFrom: 'By the forecast; from {moment} on',
  forecastGuess: 'By the forecast; from {moment} on, not known well',
  notSince: 'Not read since {moment}',
  thenNotSince: '{words}. Not read since {moment}',
  unknown: 'Not known what to pay: {count, plural, one {# account} other {# accounts}}',
  unknownWhy: 'Not read, or not enough history: {names}',
  unknownWhyMore: 'Not read, or not enough history: {names} and {more} more',
});

interface CalendarEvent {
  /** Stays the same while the entry is about the same thing, so that a calendar moves its entry. */
  readonly id: string;
  readonly at: number;
  /** The last instant of an event with a duration. */
  readonly until?: number;
  readonly summary: string;
  readonly description: string;
  readonly url?: string | null;
}

const reasons = { 'thirty-days': says.payWhy, 'next-run': says.payRun, alerts: says.payClears } as const;

/** Whether a calendar's address has the right key. Takes the same time for every guess. */
export function isCalendarKey(given: string, key: string | null): boolean {
  return key !== null && timingSafeEqual(digestOf(given), digestOf(key));
}

/**
 * Payments (on the day of their pay run if they have one), balances that may be empty, expected top-ups and announced runs, as whole days of the
 * frame's zone (RFC 5545). What is due or already empty is on today, and so are accounts without a forecast. `database` keeps two lowwaters apart.
 */
export async function writeCalendar(scope: Omit<Scope, 'query'>, database: string): Promise<string> {
  const { views, now, timezone } = scope;
  const { payments, unknown, ending } = await planPayments(known(views), now);
  const expected = views.expected();
  const runs = views.announced().filter(({ endsAt }) => endsAt > now);
  const accounts = await accountsOf(views, [...expected, ...runs]);
  const amountIn = (currency: string | null, micros: Micros) => sayAmount(micros, { ...scope, currency });
  const announced = (it: ExpectedTopUp | AnnouncedRun, micros: Micros, words: typeof says.run) => {
    const { account: id, balance, comment } = it;
    const { name = id, balances = [], currency = null } = accounts.get(id) ?? {};
    const amount = amountIn(unitOf({ balances, currency }, balance), micros);
    const named = balances.length > 1 ? sayBalance(balanceLabel(balance, balances), scope) : '';
    const description = named === '' || comment === '' ? named + comment : labelled(named, comment);
    return { summary: say(words, { amount, account: name }, scope), description };
  };
  const events: readonly CalendarEvent[] = [
    ...payments.map(({ account, balance, currency, micros, dueAt, runAt, isDue, covers, isAtLeast }) => ({
      id: `pay-${account.id}-${dotted(balance)}`,
      at: runAt ?? dueAt ?? now,
      summary: say(
        isDue ? says.payNow : says.pay,
        { amount: amountIn(currency, micros), account: account.name },
        scope,
      ),
      description: withAge(
        say(
          isAtLeast ? says.payUnknown : reasons[covers],
          { balance: sayBalance(balanceLabel(balance, account.balances), scope) },
          scope,
        ),
        account,
        scope,
      ),
      url: account.topUpUrl,
    })),
    ...ending.flatMap((account) => emptyEvents(account, scope)),
    ...expected.map((topUp) => ({
      id: `expected-${topUp.id}`,
      at: topUp.by,
      ...announced(topUp, missingOf(topUp), says.expected),
    })),
    ...runs.map((run) => ({
      id: `run-${run.id}`,
      at: run.startsAt,
      until: run.endsAt - 1,
      ...announced(run, run.amountMicros, says.run),
    })),
    ...(unknown.length === 0 ? [] : [unknownEvent(unknown, scope)]),
  ];
  const stamp = `${isoDay(now, 'UTC').replaceAll('-', '')}T000000Z`;
  const dayOf = (at: number, zone = timezone): string => isoDay(at, zone).replaceAll('-', '');
  const lines = events.flatMap(({ id, at, until, summary, description, url = null }) => [
    'BEGIN:VEVENT',
    `UID:${id}@${database}.lowwater`,
    `DTSTAMP:${stamp}`,
    `DTSTART;VALUE=DATE:${dayOf(until === undefined ? Math.max(at, now) : at)}`,
    // The end of an event is exclusive (RFC 5545), so it is the day after the last.
    ...(until === undefined
      ? []
      : [`DTEND;VALUE=DATE:${dayOf(Date.parse(isoDay(until, timezone)) + dayMs, 'UTC')}`]),
    `SUMMARY:${escapeText(summary)}`,
    ...(description === '' ? [] : [`DESCRIPTION:${escapeText(description)}`]),
    ...(url === null ? [] : [`URL:${new URL(url).href}`]),
    'TRANSP:TRANSPARENT',
    'END:VEVENT',
  ]);
  const all = [...headOf(scope), ...(lines.length === 0 ? utc : lines), 'END:VCALENDAR'];
  return all.map((line) => `${fold(line)}\r\n`).join('');
}

const headOf = (scope: Frame) => [
  ...['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//lowwater//pay//EN', 'CALSCALE:GREGORIAN'],
  `X-WR-CALNAME:${escapeText(say(says.name, scope))}`,
  ...['REFRESH-INTERVAL;VALUE=DURATION:PT1H', 'X-PUBLISHED-TTL:PT1H'],
];

/** The component of an empty calendar: there must be at least one (RFC 5545 3.6). */
const utc = [
  ...['BEGIN:VTIMEZONE', 'TZID:UTC', 'BEGIN:STANDARD', 'DTSTART:19700101T000000'],
  ...['TZOFFSETFROM:+0000', 'TZOFFSETTO:+0000', 'END:STANDARD', 'END:VTIMEZONE'],
];

function emptyEvents(account: AccountView, frame: Frame): readonly CalendarEvent[] {
  return account.balances.flatMap(({ id, label }) => {
    const end = describeEnd(ownOf(account.runways, id) ?? null, frame);
    if (end === null) return [];
    const summary = say(end.words, { account: account.name, label: sayLabel(label, frame) }, frame);
    return {
      id: `empty-${account.id}-${dotted(id)}`,
      at: end.at,
      summary,
      description: withAge(end.description, account, frame),
    };
  });
}

/** Adds since when an account cannot be read: the words rely on its last reading. */
function withAge(words: string, { isRead, readAt }: AccountView, frame: Frame): string {
  if (isRead || readAt === null) return words;
  const given = { words, moment: sayMoment(readAt, frame) };
  return say(words === '' ? says.notSince : says.thenNotSince, given, frame);
}

function describeEnd(runway: Runway | null, frame: Frame) {
  if (runway?.runwayMs != null && runway.runwayMs <= 0) {
    // A balance that was read at or below zero needs no forecast.
    if (!runway.isEndPredicted) return { at: frame.now, words: says.usedUp, description: '' };
    return { at: frame.now, words: says.usedUpByForecast, description: sayForecast(null, frame) };
  }
  // An expected top-up that comes in time delays the end. One that did not come in time no longer counts.
  const later = runway?.expected?.forecast ?? null;
  const at = endOf(runway && later ? { ...runway, emptyAt: later.emptyAt } : runway, frame.now);
  if (at === null) return null;
  return { at, words: says.empty, description: sayForecast(later ?? runway?.forecast ?? null, frame) };
}

function sayForecast(forecast: Forecast | null, frame: Frame): string {
  if (forecast === null || forecast.earliest === null) return say(says.forecast, frame);
  const words = isGuess(forecast, frame.now) ? says.forecastGuess : says.forecastFrom;
  return say(words, { moment: sayMoment(forecast.earliest, frame) }, frame);
}

function unknownEvent(unknown: readonly AccountView[], scope: Frame): CalendarEvent {
  const names = scope.language.list(unknown.slice(0, maxNamed).map(({ name }) => cleanText(name, 80)));
  const more = unknown.length - maxNamed;
  return {
    id: 'unknown',
    at: scope.now,
    summary: say(says.unknown, { count: unknown.length }, scope),
    description:
      more > 0 ? say(says.unknownWhyMore, { names, more }, scope) : say(says.unknownWhy, { names }, scope),
  };
}

/** Ids contain hyphens too, so the last hyphen in a UID must be the one before the balance. */
const dotted = (balance: Balance): string => balance.replaceAll('-', '.');

/** RFC 5545 3.3.11. Control characters are removed, so that a line break in a name cannot begin a property. */
function escapeText(text: string): string {
  return cleanText(text, 1_000).replace(/[\\;,]/g, (character) => `\\${character}`);
}

/** RFC 5545 3.1: a longer line continues after a line break and a space. No character is split. */
function fold(line: string): string {
  let text = '';
  let octets = 0;
  for (const character of line) {
    const size = Buffer.byteLength(character);
    if (octets + size > maxOctets) {
      text += '\r\n ';
      octets = 1;
    }
    text += character;
    octets += size;
  }
  return text;
}
