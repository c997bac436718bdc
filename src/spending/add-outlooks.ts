import type { Micros } from '../domain/money.ts';
import type { ExpectedSpending, PeriodTogether } from '../domain/quantity.ts';
import type { PeriodOutlook, SpendingOutlook } from './account-spending.ts';

/** The spending of several balances of one currency together. */
export interface SpendingTogether {
  readonly month: PeriodTogether;
  readonly quarter: PeriodTogether;
  readonly nextMonth: ExpectedSpending;
  /** The number without a forecast: they count as spent so far. */
  readonly unknown: number;
  readonly balances: number;
}

const nothing: ExpectedSpending = { micros: 0, low: 0, high: 0 };

/** The range is as wide as all of them together: as if every forecast were off in the same direction. */
export function addOutlooks(outlooks: readonly SpendingOutlook[]): SpendingTogether {
  const periodOf = (pick: (outlook: SpendingOutlook) => PeriodOutlook) => {
    const all = outlooks.map(pick);
    const totals = all.map(({ spent, total }) => total ?? { micros: spent, low: spent, high: spent });
    return {
      spent: all.reduce((sum, { spent }) => sum + spent, 0),
      total: addRanges(totals),
      isWhole: all.every(({ knownSince, startsAt }) => knownSince <= startsAt),
    };
  };
  return {
    month: periodOf(({ month }) => month),
    quarter: periodOf(({ quarter }) => quarter),
    nextMonth: addRanges(outlooks.map(({ nextMonth }) => nextMonth ?? nothing)),
    unknown: outlooks.filter(({ month }) => month.total === null).length,
    balances: outlooks.length,
  };
}

function addRanges(ranges: readonly ExpectedSpending[]): ExpectedSpending {
  const add = (pick: (range: ExpectedSpending) => Micros) =>
    ranges.reduce((sum, range) => sum + pick(range), 0);
  return { micros: add(({ micros }) => micros), low: add(({ low }) => low), high: add(({ high }) => high) };
}

/** The budget for all of them; null unless each that spends has a budget. */
export function addBudgets(
  rows: readonly { readonly budget: Micros | null; readonly month: Pick<PeriodOutlook, 'spent'> }[],
): Micros | null {
  const spending = rows.filter(({ budget, month }) => budget !== null || month.spent > 0);
  const isWhole = spending.length > 0 && spending.every(({ budget }) => budget !== null);
  return isWhole ? spending.reduce((sum, { budget }) => sum + (budget ?? 0), 0) : null;
}
