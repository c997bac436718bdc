import type { Payment, Runway } from '../domain/message.ts';
import type { Micros } from '../domain/money.ts';
import { entryOf } from '../domain/provider-entry.ts';
import { amountOf, type Balance, unitOf } from '../domain/reading.ts';
import { dayMs, instantOfWall, isoDay, minuteMs } from '../domain/time.ts';
import { notUrgent } from '../domain/urgency.ts';
import { clearingBalance } from '../rules/registry.ts';
import { urgencyOfBalance } from '../rules/urgency.ts';
import { passLeadTime } from '../spending/local-week.ts';
import { restoredDays } from '../spending/runway.ts';
import { payable } from '../wording/quantity-wording.ts';
import { runwayOf } from './spending.ts';
import { factsOf, type MonitorState, type WatchedAccount } from './state.ts';

/** Payments further ahead are not planned yet. */
const payHorizonMs = restoredDays * dayMs;

function isNear({ runAt, dueAt }: Payment, now: number): boolean {
  return (runAt ?? dueAt ?? now) <= now + payHorizonMs;
}

interface Owed {
  readonly left: Micros;
  /** The balance that clears its open alerts. */
  readonly clearsAt: Micros | null;
  readonly now: number;
  readonly currency: string | null;
}

function inTimeOf({ expected }: Runway): Micros {
  return expected?.inTimeMicros ?? 0;
}

/** The payment for a balance; null when none is needed, or nobody can say. */
export function paymentOf(runway: Runway, { left, clearsAt, now, currency }: Owed): Payment | null {
  const clearing = clearsAt === null ? 0 : clearsAt - left - inTimeOf(runway);
  const restoring = runway.restoreMicros ?? 0;
  const micros = Math.max(restoring, clearing);
  if (micros <= 0) return null;
  const covers = clearing > restoring ? 'alerts' : 'thirty-days';
  const { isEmpty, actBy } = urgencyOfBalance(runway, now) ?? { isEmpty: false, actBy: null };
  // Money that lasts as far as anybody can see still clears no alert: whether it will shows once it has come.
  const dueAt = actBy === notUrgent.actBy ? (runway.expected?.by ?? null) : actBy;
  const isDue = dueAt === null || dueAt <= now;
  return { balance: runway.balance, micros: payable(micros, currency), covers, dueAt, isEmpty, isDue };
}

/** The payments that are due or in a pay run within 30 days, and those that an open alert asks for. */
export function paymentsOf(state: MonitorState, account: WatchedAccount, now: number): readonly Payment[] {
  return account.settings.balances.flatMap(({ id }) => paymentFor(state, account, id, { now }) ?? []);
}

/** `rule`: its alert counts as open, whether it is or not. */
export function paymentFor(
  state: MonitorState,
  account: WatchedAccount,
  balance: Balance,
  { now, rule }: { readonly now: number; readonly rule?: string | undefined },
): Payment | null {
  const { poll, rules, alerts, settings } = account;
  const runway = runwayOf(account, balance, now);
  if (poll.reading === null || runway === null) return null;
  const open = rules.filter(({ id }) => id === rule || (alerts.get(id)?.state ?? 'inactive') !== 'inactive');
  const clearsAt = open.length === 0 ? null : clearingBalance(open, balance, factsOf(account, now));
  const currency = unitOf({ balances: settings.balances, currency: poll.reading.currency }, balance);
  const owed = { left: amountOf(poll.reading, balance), clearsAt, now, currency };
  const needed = paymentOf(runway, owed);
  const wanted = needed ?? paymentToCome(runway, owed);
  if (wanted === null) return null;
  const planned = inRun(state, account, { ...owed, runway, wanted, least: needed?.micros ?? 0 });
  return planned.micros === 0 || (needed === null && !isNear(planned, now)) ? null : planned;
}

export function payDaysOf(
  { settings }: Pick<MonitorState, 'settings'>,
  account: Pick<WatchedAccount, 'settings'>,
): string | null {
  return entryOf(settings, account.settings).payDays ?? settings.payDays;
}

/** The payment with the last pay run in time for it, large enough that the balance is hardly empty before the money of the next run arrives. */
function inRun(
  { settings, calendar }: MonitorState,
  account: WatchedAccount,
  { runway, wanted, least, ...owed }: Owed & { runway: Runway; wanted: Payment; least: Micros },
): Payment {
  const payDays = payDaysOf({ settings }, account);
  if (payDays === null) return wanted;
  const { left, now, currency } = owed;
  const { balance, emptyMicros } = runway;
  const { dueAt, isDue } = wanted;
  const zone = settings.timezone;
  let before = isDue || dueAt === null ? null : calendar.previous(payDays, zone, dueAt);
  if (before !== null && dueAt !== null && sentBy(before, zone) > dueAt)
    before = calendar.previous(payDays, zone, before - 1);
  const runAt = before === null || sentBy(before, zone) <= now ? null : before;
  const next = calendar.next(payDays, zone, runAt ?? now) ?? now;
  const needed = neededUntil(account, balance, sentBy(next, zone));
  const lacking = needed - (left - emptyMicros) - inTimeOf(runway);
  const untilNext = payable(Math.max(0, lacking), currency);
  const covers = untilNext > least ? 'next-run' : wanted.covers;
  return { ...wanted, micros: Math.max(least, untilNext), covers, runAt };
}

/** The payment when 30 days need nothing yet: 30 more at the usual rate, by the date to pay by. Null without one, or if money comes of unknown effect. */
function paymentToCome(runway: Runway, { now, currency }: Owed): Payment | null {
  const { balance, payBy: dueAt, expected, usualPerDay } = runway;
  if (dueAt === null || (inTimeOf(runway) > 0 && expected?.forecast === null)) return null;
  const micros = payable(Math.max(0, usualPerDay ?? 0) * restoredDays, currency);
  return { balance, dueAt, isEmpty: false, isDue: dueAt <= now, micros, covers: 'thirty-days' };
}

/** When the money of a pay run has left: a run at midnight means the whole day, because nobody says at which hour of it. */
function sentBy(runAt: number, timezone: string): number {
  const day = Date.parse(isoDay(runAt, timezone));
  return instantOfWall(day, timezone) === runAt ? instantOfWall(day + dayMs, timezone) - minuteMs : runAt;
}

/** The most that is likely to be spent until money sent at `sentAt` arrives. */
function neededUntil({ spending, settings }: WatchedAccount, balance: Balance, sentAt: number): Micros {
  const arrivesAt = passLeadTime(spending.week, sentAt, settings.leadTimeMs ?? 0);
  return spending.expectedUntil(balance, arrivesAt)?.high ?? 0;
}
