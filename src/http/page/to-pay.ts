import type { Payment } from '../../domain/message.ts';
import { ownOf } from '../../domain/own.ts';
import { type Balance, unitOf } from '../../domain/reading.ts';
import { notUrgent } from '../../domain/urgency.ts';
import { dueGroup } from '../../rules/urgency.ts';
import type { AccountView, AlertView } from '../../views/views.ts';
import { type Html, html } from '../../wording/html.ts';
import { say } from '../../wording/language.ts';
import { sayAge, sayNearMoment } from '../../wording/moments.ts';
import { phrases } from '../../wording/phrase.ts';
import {
  isGuess,
  sayAmount,
  sayEmptyWhen,
  sayRunwayClause,
  sayShortPayable,
} from '../../wording/quantity-wording.ts';
import { orderedForm } from './ordered.ts';
import { age, type Visit } from './words.ts';

const says = phrases('card', {
  actNow: 'Now',
  actBy: 'By {moment}',
  since: 'Since {moment}',
  left: '{amount} left',
  topUp: 'Top up',
  runbook: 'Runbook',
  payNow: 'Pay {amount} now',
  payBy: 'Pay {amount} by {moment}',
  onItsWay: '{by} ordered {amount} {age}, expected by {moment}',
});

/** What to pay or by when to act, how long it lasts, and what there is. */
export function whenWords(alert: AlertView, account: AccountView | null, visit: Visit): Html {
  const { balance, urgency, since } = alert;
  const runway = balance === null ? null : (ownOf(account?.runways, balance) ?? null);
  const micros = balance === null ? undefined : ownOf(account?.reading?.balances, balance);
  const group = dueGroup(urgency, visit.now);
  const isDated = runway !== null && urgency.actBy > visit.now && urgency.actBy < notUrgent.actBy;
  const payment = account?.payments.find((each) => each.balance === balance);
  const by =
    account !== null && payment !== undefined
      ? paySentence(alert, account, payment, visit)
      : group === 'now'
        ? html`<strong class="gone">${say(says.actNow, visit)}</strong>`
        : isDated
          ? html`<strong>${say(says.actBy, { moment: sayNearMoment(urgency.actBy, visit) }, visit)}</strong>`
          : html`${say(says.since, { moment: sayNearMoment(since, visit) }, visit)}`;
  const left =
    micros !== undefined &&
    account !== null &&
    html`${say(says.left, { amount: sayAmount(micros, { ...visit, currency: unitOf(account, balance ?? '') }) }, visit)}`;
  const isOld = account !== null && account.outcome !== 'ok' && account.readAt !== null;
  const parts = [
    by,
    runway !== null &&
      html`<span class="runway">${isGuess(runway.forecast, visit.now) ? sayEmptyWhen(runway, visit) : sayRunwayClause({ ...runway, emptyAt: null, payBy: null }, visit)}</span>`,
    left,
    isOld && html`<span class="unread old">${age(account.readAt ?? 0, visit)}</span>`,
  ].filter((part) => part !== null && part !== false);
  return html`${parts.map((part, index) => (index === 0 ? part : html` · ${part}`))}`;
}

/** What to pay; null where the headline says so, as it does once it is known how long the balance lasts. */
function paySentence(alert: AlertView, account: AccountView, payment: Payment, visit: Visit): Html | null {
  const amount = sayShortPayable(payment.micros, { ...visit, currency: unitOf(account, payment.balance) });
  if (alert.headline(visit).includes(amount)) return null;
  return html`<strong>${payWords(payment, account, visit)}</strong>`;
}

/** Who ordered what that has not come yet, where people look. */
export function moneyOnItsWay(account: AccountView, balance: Balance | null, visit: Visit): readonly Html[] {
  const { views } = visit;
  const coming = views
    .expected()
    .filter((topUp) => topUp.account === account.id && topUp.balance === balance);
  return coming.map(({ amountMicros, orderedBy: by, orderedAt, by: arrivesBy }) => {
    const amount = sayAmount(amountMicros, { ...visit, currency: unitOf(account, balance ?? '') });
    const [age, moment] = [sayAge(orderedAt, visit), sayNearMoment(arrivesBy, visit)];
    return html`<p class="on-its-way"><bdi>${say(says.onItsWay, { by, amount, age, moment }, visit)}</bdi></p>`;
  });
}

/** `Ordered` stands wherever `Top up` stands. */
export function payButtons(
  account: AccountView,
  balance: Balance | null,
  { visit, back }: { readonly visit: Visit; readonly back: string },
): Html {
  const payments = account.payments.filter((payment) => payment.balance === balance);
  const { topUpUrl } = account;
  return html`${payments.length > 0 && topUpUrl !== null && html`<a class="button primary" href="${topUpUrl}">${say(says.topUp, visit)}</a>`}${payments.map((payment) => orderedForm(account, payment, visit, back))}`;
}

/** What to do about an account, first of all: what to pay by when, where, what the operators wrote for whoever is woken. */
export function actLine(account: AccountView, visit: Visit, back: string): Html | null {
  const { payments, note } = account;
  const links = accountLinks(account, payments.length > 0, visit);
  const coming = account.balances.map(({ id }) => moneyOnItsWay(account, id, visit));
  if (payments.length + links.length === 0 && note === null) return html`${coming}`;
  return html`<div class="act-line">${payments.map((payment) => html`<strong>${payWords(payment, account, visit)}</strong> ${orderedForm(account, payment, visit, back)}`)}${links.map((link) => html`${link} `)}${
    note !== null && html`<span class="hint"><bdi>${note}</bdi></span>`
  }</div>${coming}`;
}

export function payWords(payment: Payment, account: AccountView, visit: Visit): string {
  const { micros, dueAt, isDue, balance } = payment;
  const amount = sayAmount(micros, { ...visit, currency: unitOf(account, balance) });
  if (isDue || dueAt === null) return say(says.payNow, { amount }, visit);
  return say(says.payBy, { amount, moment: sayNearMoment(dueAt, visit) }, visit);
}

/** Where to pay, and what to read; `mayPay` is false where no money is asked for. */
export function accountLinks(
  { topUpUrl, runbookUrl }: AccountView,
  mayPay: boolean,
  visit: Visit,
): readonly Html[] {
  const links = [
    [says.topUp, mayPay ? topUpUrl : null, 'button primary'],
    [says.runbook, runbookUrl, 'button'],
  ] as const;
  return links.flatMap(([label, url, look]) =>
    url === null ? [] : [html`<a class="${look}" href="${url}">${say(label, visit)}</a>`],
  );
}

/** What the operators wrote for whoever is woken, and what to read. */
export function hintLine({ note, runbookUrl }: AccountView, visit: Visit): Html | null {
  if (note === null && runbookUrl === null) return null;
  return html`<p class="hint">${note !== null && html`<bdi>${note}</bdi> `}${runbookUrl !== null && html`<a href="${runbookUrl}">${say(says.runbook, visit)}</a>`}</p>`;
}
