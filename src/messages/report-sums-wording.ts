import type { ReportMessage, ReportMonth } from '../domain/message.ts';
import { cleanCurrency } from '../domain/plain-text.ts';
import { dayMs, momentParts } from '../domain/time.ts';
import type { Reader } from '../wording/moments.ts';
import { phrases, say } from '../wording/phrase.ts';
import { sayAmount, sayBareAmount, sayComputed } from '../wording/quantity-wording.ts';
import { sayPayRun, saySum } from '../wording/sum-wording.ts';

const says = phrases('reportSums', {
  left: 'Left in one currency: {sum}',
  spent: 'Spent in one currency: {sum}',
  month: '{month}: {spent} so far, {total} by its end ({low} to {high})',
  monthOfBudget: '{month}: {spent} so far, {total} by its end ({low} to {high}); budget {budget}',
  noForecast: '{month}: {spent} so far; what it comes to is not known yet',
  inPart: 'Not all of {month} was watched in {currency}: what was spent before is not in it.',
  without:
    '{count, plural, one {Of # balance in {currency} there is no forecast: it counts as spent so far.} other {Of # balances in {currency} there is no forecast: they count as spent so far.}}',
});

/** The shortest report that says something about the month: a daily one does not. */
const leastPeriodMs = 6 * dayMs;
const shownRuns = 3;

/** The sums of all accounts, a line each: one sum, the month, the next pay runs. */
export function wordSums(message: ReportMessage, reader: Reader): readonly string[] {
  const { inOne, months, payRuns, since, until } = message;
  const one =
    inOne === null
      ? []
      : [
          say(says.left, { sum: saySum(inOne.left, reader) }, reader),
          say(says.spent, { sum: saySum(inOne.spent, reader) }, reader),
        ];
  const shown = until - since < leastPeriodMs ? [] : months;
  return [
    ...one,
    ...shown.flatMap((month) => wordMonth(month, reader)),
    ...payRuns.slice(0, shownRuns).map((run) => sayPayRun(run, reader)),
  ];
}

/** `Nov: 12,400.00 CNY so far, 18,900.00 CNY by its end (18,300.00 to 19,500.00); budget 20,000.00 CNY`. */
function wordMonth(given: ReportMonth, reader: Reader): readonly string[] {
  const { month: own, startsAt, budget, unknown, balances } = given;
  const frame = { ...reader, currency: cleanCurrency(given.currency) };
  // The middle of a month lies in it in every time zone.
  const month = reader.language.month(momentParts(startsAt + 15 * dayMs, 'UTC').monthIndex);
  const spent = sayAmount(own.spent, frame);
  const inPart = own.isWhole ? [] : [say(says.inPart, { month, currency: frame.currency }, reader)];
  if (unknown === balances) return [say(says.noForecast, { month, spent }, reader), ...inPart];
  const { micros, low, high } = own.total;
  const ends = { low: sayBareAmount(low, frame), high: sayBareAmount(high, frame) };
  const all = { month, spent, total: sayComputed(micros, frame), ...ends };
  const line =
    budget === null
      ? say(says.month, all, reader)
      : say(says.monthOfBudget, { ...all, budget: sayAmount(budget, frame) }, reader);
  const without =
    unknown === 0 ? [] : [say(says.without, { count: unknown, currency: frame.currency }, reader)];
  return [line, ...inPart, ...without];
}
