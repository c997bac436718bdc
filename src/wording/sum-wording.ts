import type { PayRun } from '../domain/message.ts';
import type { OneSum } from '../domain/one-sum.ts';
import { type Reader, sayMoment } from './moments.ts';
import { phrases, say } from './phrase.ts';
import { sayAmount } from './quantity-wording.ts';

const says = phrases('oneSum', {
  sum: '{amount} at the rates of {date}',
  sumWithout: '{amount} at the rates of {date}, without {missing}: no rate',
  noRates: '{amount}, without {missing}: no rates were read yet',
});

/** A sum with the date of its rates, and the currencies that it lacks. */
export function saySum({ micros, currency, date, missing }: OneSum, reader: Reader): string {
  const amount = sayAmount(micros, { ...reader, currency });
  if (missing.length === 0) return date === null ? amount : say(says.sum, { amount, date }, reader);
  const given = { amount, missing: reader.language.list(missing) };
  return date === null ? say(says.noRates, given, reader) : say(says.sumWithout, { ...given, date }, reader);
}

const ofRun = phrases('payRun', {
  run: 'Run of {moment}: {amounts} for {count, plural, one {# balance} other {# balances}}',
  runTogether:
    'Run of {moment}: {amounts} for {count, plural, one {# balance} other {# balances}}, together {sum}',
  urgent: 'Cannot wait for a run: {amounts} for {count, plural, one {# balance} other {# balances}}',
  urgentTogether:
    'Cannot wait for a run: {amounts} for {count, plural, one {# balance} other {# balances}}, together {sum}',
});

/** `Run of Tue 1 Dec 09:00 UTC: 3,000.00 CNY for 2 balances`. */
export function sayPayRun({ at, sums, total, count }: PayRun, reader: Reader): string {
  const amounts = sums.map(({ micros, currency }) => sayAmount(micros, { ...reader, currency })).join(' + ');
  const sum = total === null || sums.length < 2 ? null : saySum(total, reader);
  if (at === null)
    return sum === null
      ? say(ofRun.urgent, { amounts, count }, reader)
      : say(ofRun.urgentTogether, { amounts, count, sum }, reader);
  const moment = sayMoment(at, reader);
  return sum === null
    ? say(ofRun.run, { moment, amounts, count }, reader)
    : say(ofRun.runTogether, { moment, amounts, count, sum }, reader);
}
