import type { AnnouncedRun, ExpectedTopUp } from '../../domain/operator.ts';
import { unitOf } from '../../domain/reading.ts';
import { parseLocalText } from '../../domain/time.ts';
import type { Wanted } from '../../engine/orders.ts';
import { type Html, html, sayHtml } from '../../wording/html.ts';
import { sayMoment } from '../../wording/moments.ts';
import { phrases, say } from '../../wording/phrase.ts';
import { sayAmount, type WordingFrame } from '../../wording/quantity-wording.ts';
import type { WebContext } from '../web-env.ts';
import { accountsOf } from './alerts.ts';
import { hidden, maxChoices, options, personFields, readForm, readPerson, sendBack } from './forms.ts';
import { balanceLink } from './markup.ts';
import { readAmount } from './ordered.ts';
import { giveOrAskAgain } from './show.ts';
import { zoneOfForm } from './time-zone.ts';
import { common, type Scope } from './words.ts';

const says = phrases('announce', {
  title: 'Announced runs',
  run: '{amount} beyond the usual, {from} to {to}, announced by {by}',
  announce: 'Announce a run',
  effect:
    'Spending beyond the usual, such as a campaign: forecast, payments, surge and budget know of it, and an alert tells when it does not come or is far off.',
  balance: 'Balance (empty: the first)',
  amount: 'Amount beyond the usual',
  to: 'To',
});

export async function announcedRuns(scope: Scope): Promise<Html> {
  const items = await cancellable(scope.views.announced(), scope, (run, account, frame) => {
    const [from, to] = [sayMoment(run.startsAt, scope), sayMoment(run.endsAt, scope)];
    const given = { amount: sayAmount(run.amountMicros, frame), from, to };
    return html`${account}: ${sayHtml(says.run, { ...given, by: html`<bdi>${run.announcedBy}</bdi>` }, scope)}`;
  });
  return html`<section aria-labelledby="runs-heading"><h2 id="runs-heading">${say(says.title, scope)}</h2>${items.length > 0 && html`<ul class="ordered">${items}</ul>`}
<details class="act"><summary>${say(says.announce, scope)}</summary>${runFields(scope)}</details></section>`;
}

/** Top-ups or runs that people announced, each in words with its comment and the button that cancels it. */
export async function cancellable<Announced extends ExpectedTopUp | AnnouncedRun>(
  announced: readonly Announced[],
  scope: Scope,
  wordsOf: (it: Announced, account: Html, frame: WordingFrame) => Html,
): Promise<readonly Html[]> {
  const accounts = await accountsOf(scope.views, announced);
  return announced.map((it) => {
    const { id, account, balance, comment } = it;
    const { name = account, balances = [], currency = null } = accounts.get(account) ?? {};
    const link = balanceLink({ id: account, name, balances }, balance, scope);
    const words = wordsOf(it, link, { ...scope, currency: unitOf({ balances, currency }, balance) });
    // An account may have several: a screen reader tells their buttons apart by what they cancel.
    return html`<li data-key="${id}"><span id="what-${id}">${words}${comment !== '' && html` (<bdi>${comment}</bdi>)`}</span>
<form method="post" action="/pay/cancel">${hidden('account', account)}${hidden('id', id)}<button class="quiet" id="cancel-${id}" aria-labelledby="cancel-${id} what-${id}">${say(common.cancel, scope)}</button></form></li>`;
  });
}

/** `given`: the form as it was sent before. */
function runFields(scope: Scope, given = new URLSearchParams()): Html {
  return html`<form method="post" action="/pay/announced">${hidden('zone', zoneOfForm(given, scope))}<p>${say(says.effect, scope)}</p>
<label>${say(common.account, scope)} ${accountField(scope, given.get('account'))}</label>
<label>${say(says.balance, scope)} <input name="balance" maxlength="64" autocomplete="off" value="${given.get('balance')}"></label>
<label>${say(says.amount, scope)} <input name="amount" required inputmode="decimal" value="${given.get('amount')}"></label>
<label>${say(common.from, scope)} <input type="datetime-local" name="from" required value="${given.get('from')}"></label>
<label>${say(says.to, scope)} <input type="datetime-local" name="to" required value="${given.get('to')}"></label>
${personFields(scope, given)}<button>${say(says.announce, scope)}</button></form>`;
}

function accountField({ views }: Scope, given: string | null): Html {
  const { accounts } = views.choices();
  return accounts.length > maxChoices
    ? html`<input name="account" required maxlength="64" autocomplete="off" value="${given}">`
    : html`<select name="account" required>${options(accounts, given)}</select>`;
}

export async function announceRun(context: WebContext): Promise<Response> {
  const { scope } = context.var;
  const form = await readForm(context);
  form.set('back', '/pay');
  const again = { heading: say(says.announce, scope), fields: () => runFields(scope, form), back: '/pay' };
  return (await giveOrAskAgain(context, form, readRun, again)) ?? sendBack(context, form, 'announced');
}

/** Reads times in the page's time zone. Throws `RequestError` if the form cannot be read. */
function readRun(form: URLSearchParams, scope: Scope): Wanted<'expect-spending'> {
  const timezone = zoneOfForm(form, scope);
  const at = (name: string): number => parseLocalText(form.get(name) ?? '', timezone) ?? Number.NaN;
  const balance = form.get('balance') ?? '';
  return {
    kind: 'expect-spending',
    account: form.get('account') ?? '',
    amountMicros: readAmount(form, scope),
    ...(balance === '' ? {} : { balance }),
    startsAt: at('from'),
    endsAt: at('to'),
    comment: readPerson(form).comment,
  };
}
