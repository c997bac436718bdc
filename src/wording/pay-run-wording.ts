import type { PayRun } from '../domain/message.ts';
import { type Reader, sayMoment } from './moments.ts';
import { saySum } from './one-sum-wording.ts';
import { phrases, say } from './phrase.ts';
import { sayAmount } from './quantity-wording.ts';

const says = phrases('payRun', {
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
      ? say(says.urgent, { amounts, count }, reader)
      : say(says.urgentTogether, { amounts, count, sum }, reader);
  const moment = sayMoment(at, reader);
  return sum === null
    ? say(says.run, { moment, amounts, count }, reader)
    : say(says.runTogether, { moment, amounts, count, sum }, reader);
}
