import type { Payment } from '../domain/message.ts';
import { currencyCode, type Micros } from '../domain/money.ts';
import { sumUp } from '../domain/one-sum.ts';
import { ownOf } from '../domain/own.ts';
import { unitOf } from '../domain/reading.ts';
import { weekMs } from '../domain/time.ts';
import { byUrgency } from '../domain/urgency.ts';
import { groupByRun } from '../engine/pay-runs.ts';
import { urgencyOfPayment } from '../rules/urgency.ts';
import type { Views } from './create-views.ts';
import { everyAccount } from './every-account.ts';
import type { AccountView } from './views.ts';

/** When payments are due: the sections of a plan, in their order. */
export const paymentGroups = ['now', 'this week', 'later'] as const;

export type DuePayment = Readonly<ReturnType<typeof duePaymentsOf>[number]>;

export type PaymentPlan = Awaited<ReturnType<typeof planPayments>>;

/** Payments due, or in a pay run, within 30 days, or firing now; urgent first, and the currency with the most payments first. Made in slices. */
export async function planPayments(views: Pick<Views, 'accountIds' | 'accounts' | 'finance'>, now: number) {
  const { money } = views.finance();
  const unknown: AccountView[] = [];
  const ending: AccountView[] = [];
  const due: DuePayment[] = [];
  for await (const accounts of everyAccount(views)) {
    unknown.push(...accounts.filter(isUnknown));
    ending.push(
      ...accounts.filter(({ runways }) => Object.values(runways).some((it) => it?.runwayMs != null)),
    );
    due.push(...accounts.flatMap((account) => duePaymentsOf(account, now)));
  }
  const inOrder = (left: Payment, right: Payment): number =>
    byUrgency(urgencyOfPayment(left, now), urgencyOfPayment(right, now));
  const payments = due.toSorted(inOrder);
  const currencies = [...Map.groupBy(due, ({ currency }) => currencyCode(currency)).values()]
    .map((own) => ({
      currency: own[0]?.currency ?? '',
      payments: own.toSorted(inOrder),
      /** The sums of what is due within 7 days, and of everything. */
      thisWeek: sumOf(own.filter((payment) => payment.due !== 'later')),
      next30Days: sumOf(own),
    }))
    .toSorted((left, right) => right.payments.length - left.payments.length);
  const runs = groupByRun(payments, money);
  const total = due.length === 0 ? null : money && sumUp(due, money);
  /** `unknown`: too little is known to say what these accounts need; `ending`: these have a balance that has an end. */
  return { payments, currencies, runs, total, unknown, ending };
}

function duePaymentsOf(account: AccountView, now: number) {
  const { balances, currency, runways, payments } = account;
  if (currency === null) return [];
  return payments.map((payment) => ({
    ...payment,
    account,
    currency: unitOf({ balances, currency }, payment.balance),
    due: dueOf(payment, now),
    /** It clears the alerts of the balance; the amount for 30 days is not known. */
    isAtLeast: (ownOf(runways, payment.balance) ?? null)?.restoreMicros == null,
  }));
}

function dueOf({ isDue, dueAt }: Payment, now: number): (typeof paymentGroups)[number] {
  if (isDue) return 'now';
  return (dueAt ?? 0) <= now + weekMs ? 'this week' : 'later';
}

/** Whether a balance was never read, or not lately, or has too little history for an amount for 30 days, and no alert asks for money either. */
function isUnknown({ reading, isRead, runways, payments }: AccountView): boolean {
  if (reading === null || (!isRead && payments.length === 0)) return true;
  return Object.entries(runways).some(
    ([id, runway]) =>
      runway !== null && runway.restoreMicros === null && payments.every(({ balance }) => balance !== id),
  );
}

export function sumOf(payments: readonly Payment[]): Micros {
  return payments.reduce((total, { micros }) => total + micros, 0);
}
