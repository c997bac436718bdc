import { currencyCode } from '../domain/currency.ts';
import { dayMs, weekMs } from '../domain/duration.ts';
import type { Runway } from '../domain/message.ts';
import type { Micros } from '../domain/money.ts';
import type { Balance } from '../domain/reading.ts';
import { payable } from '../wording/quantity-wording.ts';
import type { AccountView } from './views.ts';

/** What is to be paid for one balance of an account. */
export interface Payment {
  readonly balance: Balance;
  /** For another 30 days and at least what clears the balance's alerts, rounded up to what a person would pay. */
  readonly micros: Micros;
  /** By when: so that the money arrives before the balance may be empty. Null where no forecast says; not after `now` where it is due. */
  readonly dueAt: number | null;
}

/** Payments further ahead are not planned yet. */
export const payHorizonMs = 30 * dayMs;

/** What is to be paid for a balance; null where nothing is, or where nobody can say. `clearsAt` clears its open alerts. */
export function paymentOf(
  runway: Runway,
  { left, clearsAt, now }: { readonly left: Micros; readonly clearsAt: Micros | null; readonly now: number },
): Payment | null {
  const clearing = clearsAt === null ? 0 : clearsAt - left;
  const micros = Math.max(runway.restoreMicros ?? 0, clearing);
  if (micros <= 0) return null;
  const { payBy, runwayMs, forecast, emptyAt } = runway;
  const dueAt = payBy ?? (runwayMs !== null && runwayMs <= 0 ? now : (forecast?.earliest ?? emptyAt));
  return { balance: runway.balance, micros: payable(micros), dueAt };
}

/** A payment with the account that it is for. */
export interface DuePayment extends Payment {
  readonly account: AccountView;
}

/** What is to be paid in one currency. */
export interface CurrencyPayments {
  readonly currency: string;
  /** What is due first comes first. */
  readonly payments: readonly DuePayment[];
  /** Of what is due within 7 and within 30 days. */
  readonly thisWeek: Micros;
  readonly next30Days: Micros;
}

/** The payments due within 30 days, and those whose alerts fire now, by currency: the one with most payments first. */
export class PaymentPlan {
  readonly #now: number;
  readonly #byCurrency = new Map<string, { readonly currency: string; readonly payments: DuePayment[] }>();

  constructor(now: number) {
    this.#now = now;
  }

  add(account: AccountView): void {
    const { currency } = account;
    if (currency === null) return;
    for (const payment of account.payments) {
      if (payment.dueAt !== null && payment.dueAt > this.#now + payHorizonMs) continue;
      const code = currencyCode(currency);
      const known = this.#byCurrency.get(code) ?? { currency, payments: [] };
      this.#byCurrency.set(code, known);
      known.payments.push({ ...payment, account });
    }
  }

  currencies(): readonly CurrencyPayments[] {
    return [...this.#byCurrency.values()]
      .map(({ currency, payments }) => ({
        currency,
        payments: payments.toSorted((left, right) => (left.dueAt ?? 0) - (right.dueAt ?? 0)),
        thisWeek: sum(payments.filter(({ dueAt }) => (dueAt ?? 0) <= this.#now + weekMs)),
        next30Days: sum(payments),
      }))
      .toSorted((left, right) => right.payments.length - left.payments.length);
  }
}

function sum(payments: readonly Payment[]): Micros {
  return payments.reduce((total, { micros }) => total + micros, 0);
}
