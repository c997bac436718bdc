import { getOrMake } from '../../domain/get-or-make.ts';
import type { Runway } from '../../domain/message.ts';
import { currencyCode } from '../../domain/money.ts';
import { type Money, sumUp } from '../../domain/one-sum.ts';
import { ownOf } from '../../domain/own.ts';
import { capital } from '../../domain/plain-text.ts';
import { amountOf, type BalanceDefinition, type Reading, unitOf } from '../../domain/reading.ts';
import { isUsedUp } from '../../rules/urgency.ts';
import type { AccountView } from '../../views/views.ts';
import { type Html, html } from '../../wording/html.ts';
import { phrases, say } from '../../wording/phrase.ts';
import {
  commonBalances,
  sayAmount,
  sayComputed,
  sayLabel,
  sayRunway,
} from '../../wording/quantity-wording.ts';
import { saySum } from '../../wording/sum-wording.ts';
import { accountLink, moment, table, unknown } from './markup.ts';
import { common, type Frame } from './words.ts';

const says = phrases('totals', {
  currency: 'Currency',
  first: 'First empty',
  count: '{count, plural, one {# account} other {# accounts}}',
  unread: '{count} not read just now',
  neverRead: '{count} never read, not in the sums',
  unknownBurn: '{count} not known yet',
});

type Total = ReturnType<typeof emptyTotal>;

/** Earlier than every date. */
const usedUp = Number.NEGATIVE_INFINITY;

/** The sum in each currency, and when its first account is empty. Added up in one pass over the accounts. */
export class Totals {
  readonly #totals = new Map<string, Total>();
  readonly #lists = new Set<readonly BalanceDefinition[]>();
  /** Accounts that were never read are counted separately: in the row of their currency, or below the table if it has no row. */
  readonly #neverRead = new Map<string, Set<string>>();

  add(account: AccountView): void {
    const { reading } = account;
    this.#lists.add(account.balances);
    // An account that was never read and has no configured currency is in no row.
    const currency = reading?.currency ?? account.currency ?? '';
    const counting = { balances: account.balances, currency };
    for (const [unit, balances] of Map.groupBy(account.balances, ({ id }) => unitOf(counting, id))) {
      const code = currencyCode(unit);
      if (reading === null) {
        getOrMake(this.#neverRead, code, () => new Set()).add(account.id);
        continue;
      }
      const total = this.#totals.get(code) ?? emptyTotal(unit);
      this.#totals.set(code, total);
      addReading(total, { account, balances }, reading);
    }
  }

  /** The table, with a sum of everything if `money` is given; null if nothing was read. */
  table(frame: Frame, money: Money | null = null): Html | null {
    const totals = [...this.#totals].sort(([, left], [, right]) => right.accounts - left.accounts);
    if (totals.length === 0) return null;
    const columns = commonBalances(this.#lists)?.map(({ label }) => label) ?? null;
    const head = html`<th scope="col">${say(says.currency, frame)}</th><th scope="col">${say(common.accounts, frame)}</th>${(columns?.map((label) => capital(sayLabel(label, frame))) ?? [say(common.balances, frame)]).map((label) => html`<th scope="col" class="number">${label}</th>`)}<th scope="col" class="number">${say(common.burn, frame)}</th><th scope="col">${say(says.first, frame)}</th>`;
    const rows = totals.map(([code, total]) =>
      totalRow(total, this.#neverRead.get(code)?.size ?? 0, columns, frame),
    );
    const apart = [...this.#neverRead].filter(([code]) => !this.#totals.has(code));
    const count = new Set(apart.flatMap(([, ids]) => [...ids])).size;
    const amounts = totals.flatMap(([, { currency, sums }]) =>
      [...sums.values()].map((micros) => ({ currency, micros })),
    );
    const sum = money && sumUp(amounts, money);
    return html`${table(say(common.totals, frame), 'cards compact totals', head, rows)}${count > 0 && html`<p class="note unread">${say(says.neverRead, { count }, frame)}</p>`}${sum && html`<p class="sums">${say(common.inOneCurrency, { sum: saySum(sum, frame) }, frame)}</p>`}`;
  }
}

/** `neverRead`: the accounts of this row that are in no sum. Without `columns`, all balances are in one cell, with their names. */
function totalRow(total: Total, neverRead: number, columns: readonly string[] | null, frame: Frame): Html {
  const { currency, accounts, unread, sums, first } = total;
  const sum = (label: string): string => sayAmount(Number(sums.get(label) ?? 0), { ...frame, currency });
  const named = [...sums.keys()].map(
    (label) =>
      html`<span class="line">${sum(label)} <span class="soft">${sayLabel(label, frame)}</span></span>`,
  );
  return html`<tr><th scope="row"><bdi>${currency}</bdi></th><td data-label="${say(common.accounts, frame)}">${say(says.count, { count: accounts }, frame)}${unread > 0 && html` <span class="sub unread">${say(says.unread, { count: unread }, frame)}</span>`}${neverRead > 0 && html` <span class="sub unread">${say(says.neverRead, { count: neverRead }, frame)}</span>`}</td>
${columns === null ? html`<td class="number" data-label="${say(common.balances, frame)}">${named}</td>` : columns.map((label) => html`<td class="number" data-label="${capital(sayLabel(label, frame))}">${sums.has(label) && sum(label)}</td>`)}
<td class="number" data-label="${say(common.burn, frame)}">${burnCell(total, frame)}</td>
<td data-label="${say(says.first, frame)}">${
    first === null
      ? unknown(frame)
      : html`${first.emptyAt === usedUp ? html`<strong class="runway gone">${sayRunway(first.runway, frame)}</strong>` : moment(first.emptyAt, frame)} <span class="sub">${accountLink(first.account)}</span>`
  }</td></tr>`;
}

function burnCell({ currency, accounts, burnPerDay, burning }: Total, frame: Frame): Html {
  if (burning === 0) return unknown(frame);
  const rest = accounts - burning;
  return html`${sayComputed(burnPerDay, { ...frame, currency })}${rest > 0 && html` <span class="sub">${say(says.unknownBurn, { count: rest }, frame)}</span>`}`;
}

function addReading(
  total: Total,
  { account, balances }: Pick<AccountView, 'balances'> & { readonly account: AccountView },
  reading: Reading,
): void {
  const { runways, isRead } = account;
  total.accounts += 1;
  if (!isRead) total.unread += 1;
  if (balances.some(({ id }) => ownOf(runways, id)?.burnPerDay != null)) total.burning += 1;
  for (const { id: balance, label } of balances) {
    total.sums.set(label, (total.sums.get(label) ?? 0n) + BigInt(amountOf(reading, balance)));
    const runway = ownOf(runways, balance) ?? null;
    total.burnPerDay += runway?.burnPerDay ?? 0;
    const emptyAt = isUsedUp(runway) ? usedUp : (runway?.emptyAt ?? null);
    if (emptyAt !== null && (total.first === null || emptyAt < total.first.emptyAt))
      total.first = { account, runway, emptyAt };
  }
}

function emptyTotal(currency: string) {
  return {
    ...{ currency, accounts: 0, sums: new Map<string, bigint>(), burnPerDay: 0 },
    /** The number of accounts whose last poll gave no reading: the sums include their last known balances. */
    unread: 0,
    /** The number of accounts with a known burn: the sum is theirs. */
    burning: 0,
    first: null as Readonly<{ account: AccountView; runway: Runway | null; emptyAt: number }> | null,
  };
}
