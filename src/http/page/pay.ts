import { inSlices } from '../../daemon/slices.ts';
import { formatAmount } from '../../domain/money.ts';
import { plural } from '../../domain/plural.ts';
import { type CurrencyPayments, type DuePayment, PaymentPlan } from '../../views/payment-plan.ts';
import type { LiveViews } from '../../views/views.ts';
import { balanceLabel } from '../../wording/balance-wording.ts';
import { type Html, html } from '../../wording/html.ts';
import { accountPath } from './forms.ts';
import { live } from './live.ts';
import { badge, balanceCell, type Frame, moment, nameOf, runwayCell, stateOf, stateWords } from './words.ts';

const sliceOfAccounts = 100;

/** Adds up what is to be paid, in slices between which the daemon goes about its business. */
export async function planPayments(
  views: Pick<LiveViews, 'accountIds' | 'accounts'>,
  now: number,
): Promise<readonly CurrencyPayments[]> {
  const plan = new PaymentPlan(now);
  for await (const ids of inSlices(views.accountIds(), sliceOfAccounts))
    for (const account of await views.accounts(ids)) plan.add(account);
  return plan.currencies();
}

/** What is to be paid, by when and where, by currency: to work through, and to print. */
export async function renderPay(views: LiveViews, frame: Frame): Promise<Html> {
  const currencies = await planPayments(views, frame.now);
  const { unread } = views.counts();
  return html`<div class="section-head"><h1>Pay</h1><p class="download"><a href="/api/v1/pay.csv" download>Download as CSV</a></p></div>
<p class="lead">What keeps each balance going for another 30 days, and at least clears its alerts. It is due so that the money arrives before the balance may be empty.</p>
${live(
  'pay',
  html`${currencies.length === 0 && html`<p class="empty">Nothing is due within 30 days.</p>`}${unread > 0 && html`<p class="note unread">${plural(unread, 'account')} could not be read: what they need is as of their last reading.</p>`}${currencies.map((currency) => currencySection(currency, frame))}`,
)}`;
}

function currencySection({ currency, payments, thisWeek, next30Days }: CurrencyPayments, frame: Frame): Html {
  const id = `pay-${currency.toLowerCase().replaceAll(/[^a-z0-9]/g, '')}`;
  return html`<section aria-labelledby="${id}"><h2 id="${id}"><bdi>${currency}</bdi></h2>
<p class="sums"><strong>${formatAmount(thisWeek, currency)}</strong> within 7 days · <strong>${formatAmount(next30Days, currency)}</strong> within 30 days</p>
<div class="scroll" role="group" aria-label="Payments in ${currency}" tabindex="0"><table class="cards compact pay">
<thead><tr><th scope="col">Account</th><th scope="col" class="number">Pay</th><th scope="col">By</th><th scope="col" class="number">Left now</th><th scope="col">Lasts</th><th scope="col">Where</th></tr></thead>
<tbody>${payments.map((payment) => paymentRow(payment, frame))}</tbody></table></div></section>`;
}

function paymentRow({ account, balance, micros, dueAt }: DuePayment, frame: Frame): Html {
  const { word, tone } = stateWords[stateOf(account)];
  return html`<tr><th scope="row"><a href="${accountPath(account.id)}"><bdi>${nameOf(account.name)}</bdi></a> ${tone !== 'good' && badge(tone, word)}<span class="sub">${balanceLabel(balance, account.balances)}</span></th>
<td class="number" data-label="Pay"><strong>${formatAmount(micros, account.currency)}</strong></td>
<td data-label="By">${dueAt === null || dueAt <= frame.now ? html`<strong class="gone">now</strong>` : moment(dueAt, frame)}</td>
<td class="number" data-label="Left now">${balanceCell(account, balance)}</td>
<td data-label="Lasts">${runwayCell(account, balance, frame)}</td>
<td data-label="Where">${account.topUpUrl === null ? html`<span class="soft">no topUpUrl</span>` : html`<a class="button" href="${account.topUpUrl}">Top up<span class="hidden"> ${nameOf(account.name)}</span></a>`}</td></tr>`;
}
