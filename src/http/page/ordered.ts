import type { Payment } from '../../domain/message.ts';
import { formatMicros, type Micros } from '../../domain/money.ts';
import { unitOf } from '../../domain/reading.ts';
import { severities } from '../../domain/severity.ts';
import { parseLocalText } from '../../domain/time.ts';
import type { Wanted } from '../../engine/orders.ts';
import type { AccountView } from '../../views/views.ts';
import { type Html, type HtmlValue, html } from '../../wording/html.ts';
import { sayAge } from '../../wording/moments.ts';
import { type Listener, phrases, say } from '../../wording/phrase.ts';
import { sayAmount } from '../../wording/quantity-wording.ts';
import { readTypedAmount } from '../../wording/typed-amount.ts';
import { type ErrorCode, RequestError, refusals } from '../refusal.ts';
import { hidden, nameField, readPerson } from './forms.ts';
import { zoneOfForm } from './time-zone.ts';
import { nameOf, type Scope } from './words.ts';

const says = phrases('ordered', {
  ordered: 'Ordered',
  before: '{by} ordered {amount} {age}.',
  effect: 'The alerts that it ends are acknowledged, and an alert fires if the money does not come.',
  amount: 'Amount, {currency}',
  arrives: 'Arrives by',
  arrivesOrEmpty: 'Arrives by (empty: after the lead time)',
  number: 'Order number',
});

/** The form for a person who has paid: the alerts that the money ends are acknowledged, and the top-up is expected. */
export function orderedForm(account: AccountView, payment: Payment, scope: Scope, back: string): Html {
  return html`<details class="act" data-key="${payment.balance}"><summary>${say(says.ordered, scope)}<span class="hidden"> ${nameOf(account.name)}</span></summary>${orderedFields(account, givenBy(payment, back), scope)}</details>`;
}

export function givenBy({ balance, micros }: Payment, back: string): URLSearchParams {
  return new URLSearchParams({ balance, amount: formatMicros(micros), back });
}

/** The form's target and its hidden fields; the refusal of the form that was sent before, which stands above it. */
export interface OrderedPlace {
  readonly action?: string | undefined;
  readonly extra?: HtmlValue;
  readonly refusal?: ErrorCode;
}

/** `given`: the balance and the amount, and the form as it was sent before. */
export function orderedFields(
  account: AccountView,
  given: URLSearchParams,
  scope: Scope,
  { action = '/pay/ordered', extra = null, refusal }: OrderedPlace = {},
): Html {
  const { id, worst, leadTimeMs } = account;
  const isNeeded = leadTimeMs === null;
  const balance = given.get('balance');
  const currency = unitOf(account, balance ?? '');
  const known = scope.views.expected().filter((topUp) => topUp.account === id && topUp.balance === balance);
  const seen = given.getAll('seen-expected');
  const said = refusal === 'changed' && known.findLast(({ id }) => !seen.includes(id));
  return html`<form method="post" action="${action}">
${known.map((topUp) => topUp !== said && html`<p class="problem">${say(says.before, { by: topUp.orderedBy, amount: sayAmount(topUp.amountMicros, { ...scope, currency }), age: sayAge(topUp.orderedAt, scope) }, scope)}</p>`)}<p>${say(says.effect, scope)}</p>${extra}${hidden('back', given.get('back'))}
${hidden('zone', zoneOfForm(given, scope))}${hidden('account', id)}${hidden('balance', balance)}${hidden('seen-worst', worst)}${known.map((topUp) => hidden('seen-expected', topUp.id))}
<label>${say(says.amount, { currency: currency ?? '' }, scope)} <input name="amount" required inputmode="decimal" value="${given.get('amount')}"></label>
<label>${say(isNeeded ? says.arrives : says.arrivesOrEmpty, scope)} <input type="date" name="arrives" value="${given.get('arrives')}"${isNeeded && html` required`}></label>
<label>${say(says.number, scope)} <input name="comment" maxlength="400" autocomplete="off" placeholder="PO-4711" value="${given.get('comment')}"></label>
${nameField(given.get('by'), scope)}
<button>${say(says.ordered, scope)}</button></form>`;
}

/** Throws `RequestError` if the form cannot be read. */
export function readTopUp(account: string, form: URLSearchParams, scope: Scope): Wanted<'expect-top-up'> {
  const timezone = zoneOfForm(form, scope);
  const amountMicros = readAmount(form, scope);
  const day = form.get('arrives') ?? '';
  const arrivesBy = day === '' ? {} : { arrivesBy: parseLocalText(`${day}T23:59`, timezone) ?? Number.NaN };
  const worst = severities.find((severity) => severity === form.get('seen-worst')) ?? null;
  const seen = { expected: form.getAll('seen-expected'), worst };
  const balance = form.get('balance') ?? '';
  const { comment } = readPerson(form);
  return { kind: 'expect-top-up', account, balance, amountMicros, ...arrivesBy, comment, seen };
}

/** Throws `RequestError` if the form has no amount. */
export function readAmount(form: URLSearchParams, { language }: Listener): Micros {
  const micros = readTypedAmount((form.get('amount') ?? '').trim(), language);
  if (micros !== null) return micros;
  throw new RequestError('bad_request', refusals.amount({ example: '9300.00' }));
}
