import type { Payment } from '../../domain/message.ts';
import { formatAmount } from '../../domain/money.ts';
import type { Balance } from '../../domain/reading.ts';
import type { AccountView } from '../../views/views.ts';
import { type Html, html } from '../../wording/html.ts';
import { type Frame, nearMoment } from './words.ts';

/** What to do about an account, first of all: what to pay by when, where, what the operators wrote for whoever is woken. */
export function actLine(account: AccountView, balance: Balance | null, frame: Frame): Html | null {
  const payments = account.payments.filter((payment) => balance === null || payment.balance === balance);
  const links = accountLinks(account, payments.length > 0);
  if (payments.length === 0 && links.length === 0 && account.note === null) return null;
  return html`<p class="act-line">${payments.map((payment) => html`<strong>${payWords(payment, account, frame)}</strong> `)}${links.map((link) => html`${link} `)}${
    account.note !== null && html`<span class="hint"><bdi>${account.note}</bdi></span>`
  }</p>`;
}

function payWords({ micros, dueAt }: Payment, { currency }: AccountView, frame: Frame): Html {
  const by = dueAt === null || dueAt <= frame.now ? html`now` : html`by ${nearMoment(dueAt, frame)}`;
  return html`Pay ${formatAmount(micros, currency)} ${by}`;
}

/** Where to pay, and what to read; `mayPay` is false where no money is asked for. */
export function accountLinks({ topUpUrl, runbookUrl }: AccountView, mayPay: boolean): readonly Html[] {
  const links = [
    ['Top up', mayPay ? topUpUrl : null],
    ['Runbook', runbookUrl],
  ] as const;
  return links.flatMap(([label, url]) =>
    url === null ? [] : [html`<a class="button" href="${url}">${label}</a>`],
  );
}
