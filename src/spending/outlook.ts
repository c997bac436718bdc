import type { Micros } from '../domain/money.ts';
import { ownOf } from '../domain/own.ts';
import type { ExpectedSpending, PeriodTogether } from '../domain/quantity.ts';
import type { Balance } from '../domain/reading.ts';
import type { AccountSpending } from './account-spending.ts';
import { mapRange } from './interval.ts';
import { endOfNextMonth, type PeriodSum, presentSums } from './periods.ts';

/** The spending of a period so far, and the total at its end: null while less than a day is known. */
export interface PeriodOutlook extends Omit<PeriodSum, 'spent' | 'watchedFrom'> {
  readonly spent: Micros;
  readonly total: ExpectedSpending | null;
}

export type SpendingOutlook = NonNullable<ReturnType<typeof outlookOf>>;

/** The spending of the present month and quarter of the calendar, so far and at their end, and of the next month; null before the first reading. */
export function outlookOf(spending: AccountSpending, balance: Balance, now: number) {
  const { week, last } = spending;
  const [readMonth, readQuarter] = [spending.since('month'), spending.since('quarter')];
  if (readMonth === null || readQuarter === null || last === null) return null;
  const [month, quarter] = presentSums({ month: readMonth, quarter: readQuarter }, { week, last, now });
  return {
    /** The currency of what was learned: the account's newest reading may be in another one. */
    currency: last.currency,
    month: outlookOfPeriod(spending, balance, month),
    nextMonth: expectedIn(spending, balance, month.endsAt, endOfNextMonth(week, month.startsAt)),
    quarter: outlookOfPeriod(spending, balance, quarter),
  };
}

function expectedIn(
  spending: AccountSpending,
  balance: Balance,
  from: number,
  to: number,
): ExpectedSpending | null {
  const before = expectedOrNothing(spending, balance, from);
  const until = expectedOrNothing(spending, balance, to);
  const share = before && until && (until.micros - before.micros) / (until.micros || 1);
  return until && mapRange(until, (micros) => Math.round(micros * (share ?? 0)));
}

/** `expectedUntil`, and 0 for a balance that was watched for a day and never fell. */
function expectedOrNothing(
  spending: AccountSpending,
  balance: Balance,
  until: number,
): ExpectedSpending | null {
  const expected = spending.expectedUntil(balance, until);
  const isIdle = spending.state(balance) === null && spending.isKnownForADay;
  return expected === null && isIdle ? nothing : expected;
}

function outlookOfPeriod(
  spending: AccountSpending,
  balance: Balance,
  { startsAt, endsAt, knownSince, ...sum }: PeriodSum,
): PeriodOutlook {
  const spent = ownOf(sum.spent, balance) ?? 0;
  const rest = expectedIn(spending, balance, startsAt, endsAt);
  return { startsAt, endsAt, knownSince, spent, total: rest && mapRange(rest, (micros) => spent + micros) };
}

const nothing: ExpectedSpending = { micros: 0, low: 0, high: 0 };

/**
 * The spending of several balances of one currency together. The range is as wide as all of them together: as if every forecast were off in the
 * same direction.
 */
export function addOutlooks(outlooks: readonly SpendingOutlook[]) {
  const periodOf = (pick: (outlook: SpendingOutlook) => PeriodOutlook): PeriodTogether => {
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
    /** The number without a forecast: they count as spent so far. */
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
