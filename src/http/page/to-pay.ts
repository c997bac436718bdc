import type { Payment } from '../../domain/message.ts';
import { ownOf } from '../../domain/own.ts';
import { type Balance, unitOf } from '../../domain/reading.ts';
import { dueGroup, notUrgent } from '../../domain/urgency.ts';
import type { AccountView, AlertView } from '../../views/views.ts';
import { isGuess, sayEmptyWhen } from '../../wording/forecast-wording.ts';
import { type Html, html, sayHtml } from '../../wording/html.ts';
import { sayAge, sayNearMoment } from '../../wording/moments.ts';
import { phrases, say } from '../../wording/phrase.ts';
import { sayAmount, sayRunwayClause, sayShortPayable } from '../../wording/quantity-wording.ts';
import { age } from './markup.ts';
import { orderedForm } from './ordered.ts';
import { common, nameOf, type Scope } from './words.ts';

const says = phrases('card', {
  actBy: 'By {moment}',
  since: 'Since {moment}',
  left: '{amount} left',
  runbook: 'Runbook',
  payNow: 'Pay {amount} now',
  payBy: 'Pay {amount} by {moment}',
  onItsWay: '{by} ordered {amount} {age}, expected by {moment}',
});

/** The payment or the date to act by, how long the balance lasts, and how much is left. */
export function whenWords(alert: AlertView, account: AccountView | null, scope: Scope): Html {
  const { balance } = alert;
  const runway = balance === null ? null : (ownOf(account?.runways, balance) ?? null);
  const micros = balance === null ? undefined : ownOf(account?.reading?.balances, balance);
  const left =
    micros !== undefined &&
    account !== null &&
    html`${say(says.left, { amount: sayAmount(micros, { ...scope, currency: unitOf(account, balance ?? '') }) }, scope)}`;
  const isOld = account !== null && !account.isRead && account.readAt !== null;
  const payment = account?.payments.find((each) => each.balance === balance);
  // A rule that looks at its own part of the history may know the runway before the forecast does. Its headline then says it.
  const isSaid = alert.value?.unit === 'duration' && runway !== null && runway.burnPerDay === null;
  const parts = [
    account !== null && payment !== undefined
      ? paySentence(alert, account, payment, scope)
      : dateWords(alert, runway !== null, scope),
    runway !== null &&
      !isSaid &&
      html`<span class="runway">${isGuess(runway.forecast, scope.now) ? sayEmptyWhen(runway, scope) : sayRunwayClause({ ...runway, emptyAt: null, payBy: null }, scope)}</span>`,
    left,
    isOld && html`<span class="unread old">${age(account.readAt ?? 0, scope)}</span>`,
  ].filter((part) => part !== null && part !== false);
  return html`${parts.map((part, index) => (index === 0 ? part : html` · ${part}`))}`;
}

function dateWords({ urgency, since }: AlertView, hasRunway: boolean, scope: Scope): Html {
  const { actBy } = urgency;
  if (dueGroup(urgency, scope.now) === 'now')
    return html`<strong class="gone">${say(common.now, scope)}</strong>`;
  if (hasRunway && actBy > scope.now && actBy < notUrgent.actBy)
    return html`<strong>${say(says.actBy, { moment: sayNearMoment(actBy, scope) }, scope)}</strong>`;
  return html`${say(says.since, { moment: sayNearMoment(since, scope) }, scope)}`;
}

/** The payment; null if the headline says it already, as it does once the runway is known. */
function paySentence(alert: AlertView, account: AccountView, payment: Payment, scope: Scope): Html | null {
  const amount = sayShortPayable(payment.micros, { ...scope, currency: unitOf(account, payment.balance) });
  if (alert.headline(scope).includes(amount)) return null;
  return html`<strong>${payWords(payment, account, scope)}</strong>`;
}

/** The top-ups that were ordered but have not come yet, shown where people look. */
export function moneyOnItsWay(account: AccountView, balance: Balance | null, scope: Scope): readonly Html[] {
  const topUps = scope.views.expected();
  const coming = topUps.filter((topUp) => topUp.account === account.id && topUp.balance === balance);
  return coming.map(({ amountMicros, orderedBy: by, orderedAt, by: arrivesBy }) => {
    const amount = sayAmount(amountMicros, { ...scope, currency: unitOf(account, balance ?? '') });
    const [age, moment] = [sayAge(orderedAt, scope), sayNearMoment(arrivesBy, scope)];
    return html`<p class="on-its-way">${sayHtml(says.onItsWay, { by: html`<bdi>${by}</bdi>`, amount, age, moment }, scope)}</p>`;
  });
}

/** The buttons to pay: `Ordered` is wherever `Top up` is. */
export function payButtons(
  account: AccountView,
  balance: Balance | null,
  { scope, back }: { readonly scope: Scope; readonly back: string },
): Html {
  const payments = account.payments.filter((payment) => payment.balance === balance);
  const { topUpUrl } = account;
  return html`${payments.length > 0 && topUpUrl !== null && html`<a class="button primary" href="${topUpUrl}">${say(common.topUp, scope)}<span class="hidden"> ${nameOf(account.name)}</span></a>`}${payments.map((payment) => orderedForm(account, payment, scope, back))}`;
}

/** The advice on top of an account's page: what to pay by when, the link, and the operators' note. */
export function actLine(account: AccountView, scope: Scope, back: string): Html | null {
  const { payments, note } = account;
  const links = accountLinks(account, payments.length > 0, scope);
  const coming = account.balances.map(({ id }) => moneyOnItsWay(account, id, scope));
  if (payments.length + links.length === 0 && note === null) return html`${coming}`;
  return html`<div class="act-line">${payments.map((payment) => html`<strong>${payWords(payment, account, scope)}</strong> ${orderedForm(account, payment, scope, back)}`)}${links.map((link) => html`${link} `)}${
    note !== null && html`<span class="hint"><bdi>${note}</bdi></span>`
  }</div>${coming}`;
}

export function payWords(payment: Payment, account: AccountView, scope: Scope): string {
  const { micros, dueAt, isDue, balance } = payment;
  const amount = sayAmount(micros, { ...scope, currency: unitOf(account, balance) });
  if (isDue || dueAt === null) return say(says.payNow, { amount }, scope);
  return say(says.payBy, { amount, moment: sayNearMoment(dueAt, scope) }, scope);
}

/** Links to pay and to read. `mayPay`: false if no money is needed. */
export function accountLinks(
  { topUpUrl, runbookUrl }: AccountView,
  mayPay: boolean,
  scope: Scope,
): readonly Html[] {
  const links = [
    [common.topUp, mayPay ? topUpUrl : null, 'button primary'],
    [says.runbook, runbookUrl, 'button'],
  ] as const;
  return links.flatMap(([label, url, look]) =>
    url === null ? [] : [html`<a class="${look}" href="${url}">${say(label, scope)}</a>`],
  );
}

/** The operators' note for the person who is woken, and the link to their runbook. */
export function hintLine({ note, runbookUrl }: AccountView, scope: Scope): Html | null {
  if (note === null && runbookUrl === null) return null;
  return html`<p class="hint">${note !== null && html`<bdi>${note}</bdi> `}${runbookUrl !== null && html`<a href="${runbookUrl}">${say(says.runbook, scope)}</a>`}</p>`;
}
