import { parseLocalText } from '../../domain/moment.ts';
import { formatAmount, formatMicros, parseMicros } from '../../domain/money.ts';
import { plural } from '../../domain/plain-text.ts';
import { unitOf } from '../../domain/reading.ts';
import { severities } from '../../domain/severity.ts';
import type { Wanted } from '../../engine/orders.ts';
import { type CurrencyPayments, type DuePayment, planPayments } from '../../views/payment-plan.ts';
import type { AccountView } from '../../views/views.ts';
import { type Html, html } from '../../wording/html.ts';
import { balanceLabel } from '../../wording/quantity-wording.ts';
import { findAccount } from '../api/input.ts';
import { RequestError } from '../refusal.ts';
import type { WebContext } from '../web-env.ts';
import { accountsOf } from './alerts.ts';
import { hidden, readForm, readPerson, sendBack } from './forms.ts';
import { live } from './live.ts';
import { show } from './show.ts';
import {
  accountLink,
  badge,
  balanceCell,
  moment,
  nameOf,
  runwayCell,
  stateOf,
  stateWords,
  table,
  type Visit,
} from './words.ts';

/** What is to be paid, by when and where, by currency: to work through, and to print. */
export async function renderPay(visit: Visit): Promise<Html> {
  const { views } = visit;
  const { currencies, unknown } = await planPayments(views, visit.now);
  const { unread } = views.counts();
  return html`<div class="section-head"><h1>Pay</h1><p class="download"><a href="/api/v1/pay.csv" download>Download as CSV</a></p></div>
<p class="lead">What keeps each balance going for another 30 days, and at least clears its alerts. It is due so that the money arrives before the balance may be empty.</p>
${live(
  'pay',
  html`${await expectedList(visit)}${await announcedList(visit)}${currencies.length === 0 && html`<p class="empty">Nothing is ${unknown.length > 0 && html`known to be `}due within 30 days.</p>`}${unknownList(unknown)}${unread > 0 && html`<p class="note unread">${plural(unread, 'account')} could not be read: what they need is as of their last reading.</p>`}${currencies.map((currency) => currencySection(currency, visit))}`,
)}
${calendarSection(visit.calendarKey ?? null)}`;
}

/** The address shows what the page shows to whoever has it, without signing in; a new key ends it. */
function calendarSection(key: string | null): Html {
  return html`<section aria-labelledby="calendar-heading"><h2 id="calendar-heading">Calendar</h2>
<p>By when to pay, when balances are empty and which top-ups are expected, as a calendar that others subscribe to. ${key === null ? 'It has no address yet.' : 'Whoever has its address sees it without signing in.'}</p>
${key !== null && html`<p><a href="/pay.ics?key=${key}"><code>/pay.ics?key=${key}</code></a></p>`}
<form method="post" action="/pay/calendar"><button class="quiet">${key === null ? 'Make an address' : 'Make another address'}</button>${key !== null && html` <span class="soft">The present one then shows nothing any more.</span>`}</form></section>`;
}

const maxNamed = 20;

/** Not an all-clear: who may need something that nobody can say yet. */
function unknownList(unknown: readonly AccountView[]): Html | null {
  if (unknown.length === 0) return null;
  const more = unknown.length - maxNamed;
  return html`<p class="note unread">Not enough history yet: ${unknown.slice(0, maxNamed).map((account, index) => html`${index > 0 && html`, `}${accountLink(account)}`)}${more > 0 && html` and ${more} more`}.</p>`;
}

function currencySection({ currency, payments, thisWeek, next30Days }: CurrencyPayments, frame: Visit): Html {
  const id = `pay-${currency.toLowerCase().replaceAll(/[^a-z0-9]/g, '')}`;
  return html`<section aria-labelledby="${id}"><h2 id="${id}"><bdi>${currency}</bdi></h2>
<p class="sums"><strong>${formatAmount(thisWeek, currency)}</strong> within 7 days · <strong>${formatAmount(next30Days, currency)}</strong> within 30 days</p>
${table(
  `Payments in ${currency}`,
  'cards compact pay',
  html`<th scope="col">Account</th><th scope="col" class="number">Pay</th><th scope="col">By</th><th scope="col" class="number">Left now</th><th scope="col">Lasts</th><th scope="col">Where</th><th scope="col">Done?</th>`,
  payments.map((payment) => paymentRow(payment, frame)),
)}</section>`;
}

function paymentRow(payment: DuePayment, frame: Visit): Html {
  const { account, balance, micros, dueAt } = payment;
  const { word, tone } = stateWords[stateOf(account)];
  return html`<tr><th scope="row">${accountLink(account)} ${tone !== 'good' && badge(tone, word)}<span class="sub">${balanceLabel(balance, account.balances)}</span></th>
<td class="number" data-label="Pay"><strong>${formatAmount(micros, unitOf(account, balance))}</strong></td>
<td data-label="By">${dueAt === null || dueAt <= frame.now ? html`<strong class="gone">now</strong>` : moment(dueAt, frame)}</td>
<td class="number" data-label="Left now">${balanceCell(account, balance, frame)}</td>
<td data-label="Lasts">${runwayCell(account, balance, frame)}</td>
<td data-label="Where">${account.topUpUrl === null ? html`<span class="soft">no topUpUrl</span>` : html`<a class="button" href="${account.topUpUrl}">Top up<span class="hidden"> ${nameOf(account.name)}</span></a>`}</td>
<td data-label="Done?">${orderedForm(account, payment, frame)}</td></tr>`;
}

/** Who has paid says so: the alerts that the money ends are acknowledged, and it is expected. */
function orderedForm(account: AccountView, { balance, micros }: DuePayment, visit: Visit): Html {
  const given = new URLSearchParams({ balance, amount: formatMicros(micros) });
  return html`<details class="act"><summary>Ordered<span class="hidden"> for ${nameOf(account.name)}</span></summary>${orderedFields(account, given, visit)}</details>`;
}

/** `given`: the balance and the amount, and what a form was sent with before. */
function orderedFields({ id, currency, worst }: AccountView, given: URLSearchParams, { views }: Visit): Html {
  const balance = given.get('balance');
  const known = views.expected().filter((topUp) => topUp.account === id && topUp.balance === balance);
  return html`<form method="post" action="/pay/ordered">
<p>The alerts that it ends are acknowledged, and an alert fires if the money does not come.</p>
${hidden('account', id)}${hidden('balance', balance)}${hidden('seen-worst', worst)}${known.map((topUp) => hidden('seen-expected', topUp.id))}
<label>Amount${currency !== null && html`, ${currency}`} <input name="amount" required inputmode="decimal" value="${given.get('amount')}"></label>
<label>Arrives by (empty: after the lead time) <input type="date" name="arrives" value="${given.get('arrives')}"></label>
<label>Order number <input name="comment" maxlength="400" autocomplete="off" placeholder="PO-4711" value="${given.get('comment')}"></label>
<label>Your name <input name="by" required maxlength="100" autocomplete="name" value="${given.get('by')}"></label>
<button>Ordered</button></form>`;
}

async function expectedList(visit: Visit): Promise<Html | null> {
  const { views } = visit;
  const expected = views.expected();
  if (expected.length === 0) return null;
  const accounts = await accountsOf(views, expected);
  return html`<section aria-labelledby="ordered-heading"><h2 id="ordered-heading">Ordered</h2><ul class="ordered">${expected.map(
    ({ id, account, balance, amountMicros, by, comment, orderedBy }) => {
      const { name = account, balances = [], currency = null } = accounts.get(account) ?? {};
      return html`<li>${accountLink({ id: account, name })}: ${formatAmount(amountMicros, unitOf({ balances, currency }, balance))} expected by ${moment(by, visit)}${comment !== '' && html` (<bdi>${comment}</bdi>)`}, ordered by <bdi>${orderedBy}</bdi>
<form method="post" action="/pay/cancel"><input type="hidden" name="account" value="${account}"><input type="hidden" name="id" value="${id}"><button class="quiet">Cancel<span class="hidden"> the top-up of ${nameOf(name)}</span></button></form></li>`;
    },
  )}</ul></section>`;
}

/** Runs that people announced (`lowwater expect-spending`). */
async function announcedList(visit: Visit): Promise<Html | null> {
  const runs = visit.views.announced();
  if (runs.length === 0) return null;
  const accounts = await accountsOf(visit.views, runs);
  return html`<section aria-labelledby="runs-heading"><h2 id="runs-heading">Announced runs</h2><ul class="ordered">${runs.map(
    ({ id, account, amountMicros, startsAt, endsAt, comment, announcedBy }) => {
      const { name = account, currency = null } = accounts.get(account) ?? {};
      return html`<li>${accountLink({ id: account, name })}: ${formatAmount(amountMicros, currency)} beyond the usual, ${moment(startsAt, visit)} to ${moment(endsAt, visit)}${comment !== '' && html` (<bdi>${comment}</bdi>)`}, announced by <bdi>${announcedBy}</bdi>
<form method="post" action="/pay/cancel"><input type="hidden" name="account" value="${account}"><input type="hidden" name="id" value="${id}"><button class="quiet">Cancel<span class="hidden"> the run of ${nameOf(name)}</span></button></form></li>`;
    },
  )}</ul></section>`;
}

/** Orders what the form says. A refused form is shown again with what was typed; sent once more it says that its sender saw why. */
export async function orderTopUp(context: WebContext): Promise<Response> {
  const form = await readForm(context);
  form.set('back', '/pay');
  const { visit, door } = context.var;
  const account = await findAccount(visit.views, form.get('account') ?? '');
  try {
    await door.give(readTopUp(account.id, form, visit), readPerson(form).by);
    return sendBack(context, form, 'ordered');
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    const content = html`<section class="panel question"><h1>Ordered for ${nameOf(account.name)}?</h1>
<p class="problem" role="alert">${error.message}</p>${orderedFields(account, form, visit)}<p><a href="/pay">Back</a></p></section>`;
    return show(context, { title: 'Ordered? · lowwater', content, current: 'pay', status: error.status });
  }
}

function readTopUp(account: string, form: URLSearchParams, { timezone }: Visit): Wanted<'expect-top-up'> {
  const typed = (form.get('amount') ?? '').trim();
  // Commas between thousands, as the page writes them: `12,50` is not 1,250.
  const isGrouped = /^\d{1,3}(?:,\d{3})+(?:\.\d*)?$/.test(typed);
  const amountMicros = parseMicros(isGrouped ? typed.replaceAll(',', '') : typed);
  if (amountMicros === null) throw new RequestError('bad_request', 'amount: give a number such as 9300.00');
  const day = form.get('arrives') ?? '';
  const arrivesBy = day === '' ? {} : { arrivesBy: parseLocalText(`${day}T23:59`, timezone) ?? Number.NaN };
  const worst = severities.find((severity) => severity === form.get('seen-worst')) ?? null;
  const seen = { expected: form.getAll('seen-expected'), worst };
  const balance = form.get('balance') ?? '';
  const { comment } = readPerson(form);
  return { kind: 'expect-top-up', account, balance, amountMicros, ...arrivesBy, comment, seen };
}
