import { dayMs, weekMs } from '../domain/duration.ts';
import type { Payment } from '../domain/message.ts';
import { currencyCode, type Micros } from '../domain/money.ts';
import type { AccountView } from './views.ts';

/** Payments further ahead are not planned yet. */
const payHorizonMs = 30 * dayMs;

export interface DuePayment extends Payment {
  readonly account: AccountView;
}

export type CurrencyPayments = ReturnType<PaymentPlan['currencies']>[number];

/** The payments due within 30 days, and those whose alerts fire now, by currency: the one with most payments first. */
export class PaymentPlan {
  readonly #now: number;
  readonly #byCurrency = new Map<string, { readonly currency: string; readonly payments: DuePayment[] }>();

  constructor(now: number) {
    this.#now = now;
  }

  /** Too little is known of them to say what they need. */
  readonly unknown: AccountView[] = [];
  /** Those with a balance that has an end. */
  readonly ending: AccountView[] = [];

  add(account: AccountView): void {
    const { currency } = account;
    if (isUnknown(account)) this.unknown.push(account);
    if (Object.values(account.runways).some((runway) => runway?.runwayMs != null)) this.ending.push(account);
    if (currency === null) return;
    for (const payment of account.payments) {
      if (payment.dueAt !== null && payment.dueAt > this.#now + payHorizonMs) continue;
      const code = currencyCode(currency);
      const known = this.#byCurrency.get(code) ?? { currency, payments: [] };
      this.#byCurrency.set(code, known);
      known.payments.push({ ...payment, account });
    }
  }

  currencies() {
    return [...this.#byCurrency.values()]
      .map(({ currency, payments }) => ({
        currency,
        payments: payments.toSorted((left, right) => (left.dueAt ?? 0) - (right.dueAt ?? 0)),
        /** Of what is due within 7 and within 30 days. */
        thisWeek: sum(payments.filter(({ dueAt }) => (dueAt ?? 0) <= this.#now + weekMs)),
        next30Days: sum(payments),
      }))
      .toSorted((left, right) => right.payments.length - left.payments.length);
  }
}

/** Whether a balance was not read, or how much lasts 30 days cannot be said of it, and no alert asks for money either. */
function isUnknown({ reading, runways, payments }: AccountView): boolean {
  if (reading === null) return true;
  return Object.entries(runways).some(
    ([id, runway]) =>
      runway !== null && runway.restoreMicros === null && payments.every(({ balance }) => balance !== id),
  );
}

function sum(payments: readonly Payment[]): Micros {
  return payments.reduce((total, { micros }) => total + micros, 0);
}
