import { missingOf } from '../../domain/operator.ts';
import { isEndingSoon, sayEndingSoon } from '../../views/account-summary.ts';
import {
  type DuePayment,
  type PaymentPlan,
  paymentGroups,
  planPayments,
  sumOf,
} from '../../views/payment-plan.ts';
import type { AccountView } from '../../views/views.ts';
import { type Html, html, htmlSentences, listHtml, sayHtml } from '../../wording/html.ts';
import { sayMoment } from '../../wording/moments.ts';
import { phrases, say } from '../../wording/phrase.ts';
import { sayAmount } from '../../wording/quantity-wording.ts';
import { sayPayRun, saySum } from '../../wording/sum-wording.ts';
import { pageOfList } from '../api/input.ts';
import { known } from '../refusal.ts';
import { announcedRuns, cancellable } from './announce-run.ts';
import { live } from './live.ts';
import { accountLink, balanceLink, nearMoment, table } from './markup.ts';
import { orderedForm } from './ordered.ts';
import { pager } from './pager.ts';
import { common, nameOf, pages, type Scope, withQuery } from './words.ts';

const paymentsAPage = 40;

const says = phrases('pay', {
  csv: 'Download as CSV',
  lead: 'What keeps each balance going for another 30 days, or with pay days until the money of the next run arrives, and at least clears its alerts, due so that the money arrives before the balance may be empty.',
  nothing: 'Nothing is due within 30 days.',
  nothingKnown: 'Nothing is known to be due within 30 days.',
  unread:
    '{count, plural, one {# account could not be read: what it needs is as of its last reading.} other {# accounts could not be read: what they need is as of their last readings.}}',
  unknown: 'Not read, or not enough history yet: {accounts}.',
  unknownMore: 'Not read, or not enough history yet: {accounts} and {count} more.',
  thisWeek: 'This week',
  later: 'Later',
  amount: 'Pay',
  atLeast: 'at least {amount}',
  by: 'By',
  act: 'Do it',
  dueNow: 'now',
  inRun: 'in the run of {moment}',
  expected: '{account}: {amount} expected by {moment}, ordered by {by}',
  orderedHeading: 'Ordered',
  calendar: 'Calendar',
  calendarLead:
    'By when to pay, when balances are empty, which top-ups are expected and which runs are announced, as a calendar that others subscribe to.',
  calendarNone: 'It has no address yet.',
  calendarOpen: 'Whoever has its address sees it without signing in.',
  calendarMake: 'Make an address',
  calendarAgain: 'Make another address',
  calendarEnds: 'The present one then shows nothing any more.',
});

const groupWords = { now: common.now, 'this week': says.thisWeek, later: says.later };

/** Payments of now, this week and later, the most urgent first: to be worked through, or printed. */
export async function renderPay(scope: Scope) {
  const { views, query } = scope;
  const plan = await planPayments(known(views), scope.now);
  const { payments, currencies, unknown } = plan;
  const unread = views.counts().unread - unknown.filter(({ reading }) => reading === null).length;
  const ending = plan.ending.filter(isEndingSoon).length;
  const cursor = query.get('cursor') || null;
  const keyOf = ({ account, balance }: DuePayment) => JSON.stringify([account.id, balance]);
  const { items, nextCursor } = pageOfList(payments, { limit: paymentsAPage, cursor }, keyOf);
  const none = unknown.length + ending > 0 ? says.nothingKnown : says.nothing;
  const content = html`<div class="section-head"><h1>${say(pages.pay, scope)}</h1><p class="download"><a href="/api/v1/pay.csv" download>${say(says.csv, scope)}</a></p></div>
${live(
  'pay',
  html`${payments.length === 0 && html`<p class="empty">${say(none, scope)}</p>`}${sayEndingSoon(ending, scope).map((sentence) => html`<p class="note unread">${sentence}</p>`)}${unknownList(unknown, scope)}${unread > 0 && html`<p class="note unread">${say(says.unread, { count: unread }, scope)}</p>`}${payRuns(plan, scope)}${paymentGroups.map((due) => paymentSection(due, items, currencies, scope))}
${pager((place) => withQuery('/pay', { cursor: place }), { cursor, nextCursor }, scope)}
<p class="lead">${say(says.lead, scope)}</p>
${await expectedList(scope)}${await announcedRuns(scope)}`,
)}
${calendarSection(scope.calendarKey ?? null, scope)}`;
  return { content, ending };
}

/** The section with the calendar's address, which shows its reader this page's content without signing in. A new key ends the old address. */
function calendarSection(key: string | null, scope: Scope): Html {
  return html`<section aria-labelledby="calendar-heading"><h2 id="calendar-heading">${say(says.calendar, scope)}</h2>
<p>${htmlSentences(say(says.calendarLead, scope), say(key === null ? says.calendarNone : says.calendarOpen, scope))}</p>
${key !== null && html`<p><a href="/pay.ics?key=${key}"><code>/pay.ics?key=${key}</code></a></p>`}
<form method="post" action="/pay/calendar"><button class="quiet">${say(key === null ? says.calendarMake : says.calendarAgain, scope)}</button>${key !== null && html` <span class="soft">${say(says.calendarEnds, scope)}</span>`}</form></section>`;
}

const maxNamed = 5;

/** Accounts for which it is unknown whether money is needed: no payments listed does not mean an all-clear. */
function unknownList(unknown: readonly AccountView[], scope: Scope): Html | null {
  if (unknown.length === 0) return null;
  const count = unknown.length - maxNamed;
  const accounts = listHtml(unknown.slice(0, maxNamed).map(accountLink), scope);
  const words =
    count > 0
      ? sayHtml(says.unknownMore, { accounts, count: String(count) }, scope)
      : sayHtml(says.unknown, { accounts }, scope);
  return html`<p class="note unread">${words}</p>`;
}

/** The payments of this page that are due at that time. The sums are those of all pages. */
function paymentSection(
  due: DuePayment['due'],
  shown: readonly DuePayment[],
  currencies: PaymentPlan['currencies'],
  scope: Scope,
): Html | null {
  const rows = shown.filter((payment) => payment.due === due);
  if (rows.length === 0) return null;
  const id = `due-${due.replace(' ', '-')}`;
  const sums = currencies.flatMap(({ currency, payments }) => {
    const own = payments.filter((payment) => payment.due === due);
    return own.length === 0 ? [] : [sayAmount(sumOf(own), { ...scope, currency })];
  });
  const word = say(groupWords[due], scope);
  const head = html`<th scope="col">${say(common.account, scope)}</th><th scope="col" class="number">${say(says.amount, scope)}</th><th scope="col">${say(says.by, scope)}</th><th scope="col" class="do">${say(says.act, scope)}</th>`;
  return html`<section aria-labelledby="${id}"><div class="section-head"><h2 id="${id}">${word}</h2><p class="sums"><strong>${scope.language.list(sums)}</strong></p></div>
${table(
  word,
  'cards pay',
  head,
  rows.map((payment) => paymentRow(payment, scope)),
)}</section>`;
}

/** A row with what to pay, how much, by when, and the actions. */
function paymentRow(payment: DuePayment, scope: Scope): Html {
  const { account, balance, currency, micros, dueAt, isDue, isAtLeast, runAt = null } = payment;
  const sum = html`<strong>${sayAmount(micros, { ...scope, currency })}</strong>`;
  const by =
    isDue || dueAt === null
      ? html`<strong class="gone">${say(says.dueNow, scope)}</strong>`
      : nearMoment(dueAt, scope);
  const run =
    runAt !== null &&
    html`<span class="sub">${sayHtml(says.inRun, { moment: nearMoment(runAt, scope) }, scope)}</span>`;
  const topUp =
    account.topUpUrl !== null &&
    html`<a class="button primary" href="${account.topUpUrl}">${say(common.topUp, scope)}<span class="hidden"> ${nameOf(account.name)}</span></a>`;
  return html`<tr data-key="${account.id} ${balance}"><th scope="row">${balanceLink(account, balance, scope)}</th>
<td class="number" data-label="${say(says.amount, scope)}">${isAtLeast ? sayHtml(says.atLeast, { amount: sum }, scope) : sum}</td>
<td class="by" data-label="${say(says.by, scope)}">${by}${run}</td>
<td class="do"><div class="acts">${topUp} ${orderedForm(account, payment, scope, '/pay')}</div></td></tr>`;
}

async function expectedList(scope: Scope): Promise<Html | null> {
  const items = await cancellable(scope.views.expected(), scope, (topUp, account, frame) => {
    const moment = sayMoment(topUp.by, scope);
    const given = { account, amount: sayAmount(missingOf(topUp), frame), moment };
    return sayHtml(says.expected, { ...given, by: html`<bdi>${topUp.orderedBy}</bdi>` }, scope);
  });
  if (items.length === 0) return null;
  return html`<section aria-labelledby="ordered-heading"><h2 id="ordered-heading">${say(says.orderedHeading, scope)}</h2><ul class="ordered">${items}</ul></section>`;
}

const ofRuns = phrases('payRuns', {
  heading: 'Pay runs',
  one: 'In one currency',
  all: 'All within 30 days: {sum}',
});

/** One sum over all currencies, and what each pay run must hold; null if neither `money` nor `payDays` is set. */
function payRuns({ runs, total }: Pick<PaymentPlan, 'runs' | 'total'>, scope: Scope): Html | null {
  if (total === null && runs.length === 0) return null;
  const items = runs.map(({ payments, ...run }) => {
    const words = sayPayRun({ ...run, count: payments.length }, scope);
    return run.at === null ? html`<li><strong class="gone">${words}</strong></li>` : html`<li>${words}</li>`;
  });
  return html`<section aria-labelledby="runs-of-pay"><h2 id="runs-of-pay">${say(runs.length > 0 ? ofRuns.heading : ofRuns.one, scope)}</h2>
${total !== null && html`<p class="sums">${say(ofRuns.all, { sum: saySum(total, scope) }, scope)}</p>`}
${runs.length > 0 && html`<ul>${items}</ul>`}</section>`;
}
