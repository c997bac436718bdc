import { currencyCode, type Micros } from '../domain/money.ts';
import { type Money, sumUp } from '../domain/one-sum.ts';

interface PaymentInRun {
  readonly micros: Micros;
  readonly currency: string;
  /** Null: the payment cannot wait for a run; undefined: there are no runs. */
  readonly runAt?: number | null | undefined;
}

/** The payments of each run, those that cannot wait for one first; empty when no pay days are set. */
export function groupByRun<Each extends PaymentInRun>(payments: readonly Each[], money: Money | null) {
  const inRuns = payments.filter(({ runAt }) => runAt !== undefined);
  return [...Map.groupBy(inRuns, ({ runAt = null }) => runAt)]
    .toSorted(([left], [right]) => (left ?? 0) - (right ?? 0))
    .map(([at, own]) => ({ at, payments: own, sums: sumsOf(own), total: money && sumUp(own, money) }));
}

function sumsOf(payments: readonly PaymentInRun[]) {
  return [...Map.groupBy(payments, ({ currency }) => currencyCode(currency)).values()].map((own) => ({
    currency: own[0]?.currency ?? '',
    micros: own.reduce((total, { micros }) => total + micros, 0),
  }));
}
