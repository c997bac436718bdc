import { currencyCode } from '../../domain/currency.ts';
import { formatAmount, type Micros } from '../../domain/money.ts';
import { plural } from '../../domain/plural.ts';
import { balances, type Reading } from '../../domain/reading.ts';
import type { AccountView } from '../../views/views.ts';
import { type Html, html } from '../../wording/html.ts';
import { formatComputed } from '../../wording/quantity-wording.ts';
import { accountPath } from './forms.ts';
import { type Frame, moment, nameOf, unknown } from './words.ts';

interface Total {
  readonly currency: string;
  accounts: number;
  /** Of how many the last poll gave no reading: their last known balances are in the sums. */
  unread: number;
  readonly sums: { sms: Micros; voip: Micros };
  burnPerDay: Micros;
  /** Of how many accounts anything is known of their burn: the sum is theirs. */
  burning: number;
  /** The account that runs out first. */
  first: { readonly account: AccountView; readonly emptyAt: number } | null;
}

/** What there is in each currency, and when the first account of it is empty, summed up while the accounts come by. */
export class Totals {
  readonly #totals = new Map<string, Total>();
  /** Of each currency: accounts never read are counted apart. */
  readonly #neverRead = new Map<string, number>();

  add(account: AccountView): void {
    const { reading } = account;
    const currency = reading?.currency ?? account.currency;
    if (currency === null) return;
    const code = currencyCode(currency);
    if (reading === null) {
      this.#neverRead.set(code, (this.#neverRead.get(code) ?? 0) + 1);
      return;
    }
    const total = this.#totals.get(code) ?? emptyTotal(currency);
    this.#totals.set(code, total);
    addReading(total, account, reading);
  }

  /** Null where nothing was read. */
  table(frame: Frame): Html | null {
    const totals = [...this.#totals].sort(([, left], [, right]) => right.accounts - left.accounts);
    if (totals.length === 0) return null;
    return html`<div class="scroll" role="group" aria-label="Totals" tabindex="0"><table class="cards compact totals">
<thead><tr><th scope="col">Currency</th><th scope="col">Accounts</th><th scope="col" class="number">SMS</th><th scope="col" class="number">VoIP</th><th scope="col" class="number">Burn per day</th><th scope="col">First empty</th></tr></thead>
<tbody>${totals.map(([code, total]) => totalRow(total, this.#neverRead.get(code) ?? 0, frame))}</tbody></table></div>`;
  }
}

/** `neverRead` that would belong here are in none of the sums. */
function totalRow(total: Total, neverRead: number, frame: Frame): Html {
  const { currency, accounts, unread, sums, first } = total;
  return html`<tr><th scope="row"><bdi>${currency}</bdi></th><td data-label="Accounts">${plural(accounts, 'account')}${unread > 0 && html`<span class="sub unread">${unread} not read just now</span>`}${neverRead > 0 && html`<span class="sub unread">${neverRead} never read, not in the sums</span>`}</td>
<td class="number" data-label="SMS">${formatAmount(sums.sms, currency)}</td><td class="number" data-label="VoIP">${formatAmount(sums.voip, currency)}</td>
<td class="number" data-label="Burn per day">${burnCell(total)}</td>
<td data-label="First empty">${
    first === null
      ? unknown()
      : html`${moment(first.emptyAt, frame)}<span class="sub"><a href="${accountPath(first.account.id)}"><bdi>${nameOf(first.account.name)}</bdi></a></span>`
  }</td></tr>`;
}

function burnCell({ accounts, burnPerDay, burning }: Total): Html {
  if (burning === 0) return unknown();
  const rest = accounts - burning;
  return html`${formatComputed(burnPerDay, null)}${rest > 0 && html`<span class="sub">${rest} not known yet</span>`}`;
}

function addReading(total: Total, account: AccountView, reading: Reading): void {
  const { runways, outcome } = account;
  total.accounts += 1;
  if (outcome !== 'ok') total.unread += 1;
  if (balances.some((balance) => runways[balance]?.burnPerDay != null)) total.burning += 1;
  for (const balance of balances) {
    total.sums[balance] += reading[balance];
    total.burnPerDay += runways[balance]?.burnPerDay ?? 0;
    const emptyAt = runways[balance]?.emptyAt ?? null;
    if (emptyAt !== null && (total.first === null || emptyAt < total.first.emptyAt))
      total.first = { account, emptyAt };
  }
}

function emptyTotal(currency: string): Total {
  return {
    currency,
    accounts: 0,
    unread: 0,
    sums: { sms: 0, voip: 0 },
    burnPerDay: 0,
    burning: 0,
    first: null,
  };
}
