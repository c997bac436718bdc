import { dayMs } from '../domain/duration.ts';
import type { Payment, Runway } from '../domain/message.ts';
import type { Micros } from '../domain/money.ts';
import { entryOf } from '../domain/provider-entry.ts';
import { amountOf, type Balance } from '../domain/reading.ts';
import { notUrgent } from '../domain/urgency.ts';
import { clearingBalance } from '../rules/registry.ts';
import { urgencyOfBalance } from '../rules/urgency.ts';
import { passLeadTime } from '../spending/local-week.ts';
import { payable } from '../wording/quantity-wording.ts';
import { runwayOf } from './spending.ts';
import type { MonitorState, WatchedAccount } from './state.ts';

/** Payments further ahead are not planned yet. */
const payHorizonMs = 30 * dayMs;

/** Whether it is due within 30 days, or in a pay run within them. */
export function isNear({ runAt, dueAt }: Pick<Payment, 'runAt' | 'dueAt'>, now: number): boolean {
  return (runAt ?? dueAt ?? now) <= now + payHorizonMs;
}

interface Owed {
  readonly left: Micros;
  /** The balance that clears its open alerts. */
  readonly clearsAt: Micros | null;
  readonly now: number;
  readonly currency: string | null;
}

/** The payment for a balance; null where none is needed, or where nobody can say. */
export function paymentOf(runway: Runway, { left, clearsAt, now, currency }: Owed): Payment | null {
  const clearing = clearsAt === null ? 0 : clearsAt - left - (runway.expected?.amountMicros ?? 0);
  const micros = Math.max(runway.restoreMicros ?? 0, clearing);
  if (micros <= 0) return null;
  const { isEmpty, actBy } = urgencyOfBalance(runway, now) ?? { isEmpty: false, actBy: null };
  // Expected money lasts as far as anybody can see, but clears no alert: that shows once it has come.
  const dueAt = actBy === notUrgent.actBy ? (runway.expected?.by ?? null) : actBy;
  const isDue = dueAt === null || dueAt <= now;
  return { balance: runway.balance, micros: payable(micros, currency), dueAt, isEmpty, isDue };
}

export function paymentsOf(state: MonitorState, account: WatchedAccount, now: number): readonly Payment[] {
  const { poll, rules, alerts, settings } = account;
  const open = rules.filter(({ id }) => (alerts.get(id)?.state ?? 'inactive') !== 'inactive');
  return settings.balances.flatMap(({ id: balance, unit }) => {
    const runway = runwayOf(account, balance, now);
    if (poll.reading === null || runway === null) return [];
    const left = amountOf(poll.reading, balance);
    const currency = unit ?? poll.reading.currency;
    const owed = { left, clearsAt: clearingBalance(open, balance), now, currency };
    return inRun(state, account, { ...owed, runway, payment: paymentOf(runway, owed) }) ?? [];
  });
}

export function payDaysOf(
  { settings }: Pick<MonitorState, 'settings'>,
  account: Pick<WatchedAccount, 'settings'>,
): string | null {
  return entryOf(settings, account.settings).payDays ?? settings.payDays;
}

/** The payment with the last pay run that is in time for it, and at least so much that the balance is hardly empty before the money of the next run arrives. */
function inRun(
  { settings, calendar }: MonitorState,
  account: WatchedAccount,
  { runway, payment, left, now, currency }: Owed & { runway: Runway; payment: Payment | null },
): Payment | null {
  const payDays = payDaysOf({ settings }, account);
  const wanted = payment ?? paymentToCome(runway, now);
  if (payDays === null || wanted === null) return payment;
  const { balance, emptyMicros, expected } = runway;
  const { dueAt, isDue } = wanted;
  const before = isDue || dueAt === null ? null : calendar.previous(payDays, settings.timezone, dueAt);
  // Its day is the run's.
  const runAt = before === null || before + dayMs <= now ? null : before;
  const next = calendar.next(payDays, settings.timezone, runAt ?? now) ?? now;
  const lacking = neededUntil(account, balance, next) - (left - emptyMicros) - (expected?.amountMicros ?? 0);
  const micros = Math.max(wanted.micros, payable(Math.max(0, lacking), currency));
  if (micros === 0 || (payment === null && !isNear({ runAt, dueAt }, now))) return null;
  return { ...wanted, micros, runAt };
}

/** Nothing yet, by the date to pay by; null where there is none, or money is expected. */
function paymentToCome({ balance, payBy: dueAt, expected }: Runway, now: number): Payment | null {
  if (dueAt === null || expected !== null) return null;
  return { balance, dueAt, isEmpty: false, isDue: dueAt <= now, micros: 0 };
}

/** The most that is likely spent until the money of a pay run arrives. */
function neededUntil({ spending, settings }: WatchedAccount, balance: Balance, runAt: number): Micros {
  const arrivesAt = passLeadTime(spending.week, runAt, settings.leadTimeMs ?? 0);
  return spending.expectedUntil(balance, arrivesAt)?.high ?? 0;
}
