import * as z from 'zod';
import { formatMicros } from '../../domain/money.ts';
import { ownOf } from '../../domain/own.ts';
import type { ExpectedSpending } from '../../domain/quantity.ts';
import { isoDay, isoText } from '../../domain/time.ts';
import { formatCsvLine } from '../../views/csv.ts';
import { money as amount, at, isoOrNull, moneyOrNull } from '../../views/public-object.ts';
import { commonLabel } from '../../views/review.ts';
import {
  type ForecastGroup,
  forecastSpending,
  groupForecasts,
  type SpendingForecast,
} from '../../views/spending-forecast.ts';
import type { AccountView } from '../../views/views.ts';
import { known } from '../refusal.ts';
import { answers, csv, csvFile, type Operation, operations } from './operation.ts';
import { oneSum, oneSumJson } from './sums.ts';

const { get } = operations('payments');
const range = z.strictObject({ amount, low: amount, high: amount });
const whole = range.nullable().describe('At its end, with the 80 % range; null without a forecast');
const budget = amount.nullable().describe('Of the month; of several the sum, where all have one');
const by = z.string().max(100).optional().describe('The label of the groups; default: the most common one');
const group = z.strictObject({
  ...{ group: z.string(), currency: z.string(), spent: amount, spentInQuarter: amount },
  ...{ thisMonth: range, thisQuarter: range, nextMonth: range, budget },
  unknown: z.int().describe('Balances without a forecast: counted as spent so far'),
});

export const forecastOperations: readonly Operation[] = [
  get('spending-forecast', 'forecastSpending', {
    summary:
      'What this month, this quarter and the next month will cost, by account and balance, label and provider, with the 80 % range',
    query: { by },
    answers: answers('By the calendar of each account, and sums where `money` is set', {
      months: z.array(
        z.strictObject({
          ...{ account: z.string(), balance: z.string(), provider: z.string(), currency: z.string() },
          knownSince: z.string().describe('Later than the beginning where nothing was known before'),
          ...{ spent: amount, thisMonth: whole, budget },
          quarterKnownSince: z.string(),
          ...{ spentInQuarter: amount, thisQuarter: whole, nextMonth: whole },
          readAt: at('Until when it is known: long ago while the account cannot be read')[0],
        }),
      ),
      groupedBy: z.string().nullable(),
      labels: z.array(group),
      providers: z.array(group),
      sums: z.strictObject({
        ...{ spent: oneSum.nullable(), thisMonth: oneSum.nullable() },
        ...{ thisQuarter: oneSum.nullable(), nextMonth: oneSum.nullable() },
      }),
      unknown: z.array(z.string()).describe('Accounts without a forecast: counted as spent so far'),
    }),
    answer: async ({ views, query }) => {
      const { rows, sums, unknown } = await forecastSpending(known(views));
      const label = query.by ?? commonLabel(rows.map(({ account }) => account));
      return {
        months: rows.map(rowJson),
        groupedBy: label,
        labels: groupForecasts(rows, ({ account }) => labelOf(account, label)).map(groupJson),
        providers: groupForecasts(rows, ({ provider }) => provider).map(groupJson),
        sums: {
          spent: oneSumJson(sums.spent),
          thisMonth: oneSumJson(sums.month),
          thisQuarter: oneSumJson(sums.quarter),
          nextMonth: oneSumJson(sums.nextMonth),
        },
        unknown,
      };
    },
  }),
  get('spending-forecast.csv', 'getSpendingForecastCsv', {
    summary: 'The same by account and balance, as CSV',
    query: { by },
    answers: csv,
    answer: async ({ views, now, context, query }) => {
      const { rows } = await forecastSpending(known(views));
      const label = query.by ?? commonLabel(rows.map(({ account }) => account));
      const lines = rows.map((row) => csvLine(row, label));
      return csvFile(context, `spending-forecast-${isoDay(now, 'UTC')}`, [csvHeader, ...lines]);
    },
  }),
];

function labelOf({ labels }: AccountView, label: string | null): string {
  return ownOf(labels, label ?? '') ?? '';
}

function rangeJson({ micros, low, high }: ExpectedSpending) {
  return { amount: formatMicros(micros), low: formatMicros(low), high: formatMicros(high) };
}

const rangeOrNull = (given: ExpectedSpending | null) => given && rangeJson(given);

function rowJson({ account, balance, provider, currency, ...row }: SpendingForecast) {
  const { month, quarter, nextMonth } = row;
  return {
    ...{ account: account.id, balance, provider, currency, knownSince: isoText(month.knownSince) },
    ...{ spent: formatMicros(month.spent), thisMonth: rangeOrNull(month.total) },
    budget: moneyOrNull(row.budget),
    quarterKnownSince: isoText(quarter.knownSince),
    spentInQuarter: formatMicros(quarter.spent),
    ...{ thisQuarter: rangeOrNull(quarter.total), nextMonth: rangeOrNull(nextMonth) },
    readAt: isoOrNull(account.readAt),
  };
}

function groupJson({ group: name, currency, month, quarter, nextMonth, unknown, ...own }: ForecastGroup) {
  return {
    ...{ group: name, currency, spent: formatMicros(month.spent), thisMonth: rangeJson(month.total) },
    ...{ spentInQuarter: formatMicros(quarter.spent), thisQuarter: rangeJson(quarter.total) },
    ...{ nextMonth: rangeJson(nextMonth), budget: moneyOrNull(own.budget), unknown },
  };
}

const csvHeader = formatCsvLine([
  ...['account', 'name', 'balance', 'provider', 'label', 'currency', 'knownSince', 'spent'],
  ...['month', 'monthLow', 'monthHigh', 'budget', 'quarterKnownSince', 'spentInQuarter'],
  ...['quarter', 'quarterLow', 'quarterHigh', 'nextMonth', 'nextMonthLow', 'nextMonthHigh', 'readAt'],
]);

/** A line of CSV. An unknown value is empty. */
function csvLine(row: SpendingForecast, label: string | null): string {
  const { account, balance, provider, currency, knownSince, spent, ...known } = rowJson(row);
  const cells = (it: ReturnType<typeof rangeOrNull>) => [it?.amount ?? '', it?.low ?? '', it?.high ?? ''];
  return formatCsvLine([
    ...[account, row.account.name, balance, provider, labelOf(row.account, label), currency, knownSince],
    ...[spent, ...cells(known.thisMonth), known.budget ?? '', known.quarterKnownSince, known.spentInQuarter],
    ...[...cells(known.thisQuarter), ...cells(known.nextMonth), known.readAt ?? ''],
  ]);
}
