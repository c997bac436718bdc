import type { planPayments } from '../../views/payment-plan.ts';
import { type Html, html } from '../../wording/html.ts';
import { saySum } from '../../wording/one-sum-wording.ts';
import { sayPayRun } from '../../wording/pay-run-wording.ts';
import { phrases, say } from '../../wording/phrase.ts';
import type { Scope } from './words.ts';

const says = phrases('payRuns', {
  heading: 'Pay runs',
  one: 'In one currency',
  all: 'All within 30 days: {sum}',
});

type Plan = Awaited<ReturnType<typeof planPayments>>;

/** One sum over all currencies, and what each pay run must hold; null where neither `money` nor `payDays` is set. */
export function payRuns({ runs, total }: Pick<Plan, 'runs' | 'total'>, scope: Scope): Html | null {
  if (total === null && runs.length === 0) return null;
  return html`<section aria-labelledby="runs-of-pay"><h2 id="runs-of-pay">${say(runs.length > 0 ? says.heading : says.one, scope)}</h2>
${total !== null && html`<p class="sums">${say(says.all, { sum: saySum(total, scope) }, scope)}</p>`}
${runs.length > 0 && html`<ul>${runs.map((run) => runItem(run, scope))}</ul>`}</section>`;
}

function runItem({ payments, ...run }: Plan['runs'][number], scope: Scope): Html {
  const words = sayPayRun({ ...run, count: payments.length }, scope);
  return run.at === null ? html`<li><strong class="gone">${words}</strong></li>` : html`<li>${words}</li>`;
}
