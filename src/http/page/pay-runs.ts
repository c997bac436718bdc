import type { planPayments } from '../../views/payment-plan.ts';
import { type Html, html } from '../../wording/html.ts';
import { say } from '../../wording/language.ts';
import { sayMoment } from '../../wording/moments.ts';
import { saySum } from '../../wording/one-sum-wording.ts';
import { phrases } from '../../wording/phrase.ts';
import { sayAmount } from '../../wording/quantity-wording.ts';
import type { Visit } from './words.ts';

const says = phrases('payRuns', {
  heading: 'Pay runs',
  one: 'In one currency',
  all: 'All within 30 days: {sum}',
  run: 'Run of {moment}: {amounts} for {count, plural, one {# balance} other {# balances}}',
  urgent: 'Cannot wait for a run: {amounts} for {count, plural, one {# balance} other {# balances}}',
  together: 'together {sum}',
});

type Plan = Awaited<ReturnType<typeof planPayments>>;

/** One sum over all currencies, and what each pay run must hold; null where neither `money` nor `payDays` is set. */
export function payRuns({ runs, total }: Pick<Plan, 'runs' | 'total'>, visit: Visit): Html | null {
  if (total === null && runs.length === 0) return null;
  return html`<section aria-labelledby="runs-of-pay"><h2 id="runs-of-pay">${say(runs.length > 0 ? says.heading : says.one, visit)}</h2>
${total !== null && html`<p class="sums">${say(says.all, { sum: saySum(total, visit) }, visit)}</p>`}
${runs.length > 0 && html`<ul>${runs.map((run) => runItem(run, visit))}</ul>`}</section>`;
}

function runItem({ at, payments, sums, total }: Plan['runs'][number], visit: Visit): Html {
  const amounts = sums.map(({ micros, currency }) => sayAmount(micros, { ...visit, currency })).join(' + ');
  const count = payments.length;
  const words =
    at === null
      ? html`<strong class="gone">${say(says.urgent, { amounts, count }, visit)}</strong>`
      : say(says.run, { moment: sayMoment(at, visit), amounts, count }, visit);
  const sum = total !== null && sums.length > 1 && say(says.together, { sum: saySum(total, visit) }, visit);
  return html`<li>${words}${sum && html`, ${sum}`}</li>`;
}
