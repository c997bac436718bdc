import * as z from 'zod';
import { currencyCode } from '../../domain/money.ts';
import { type Balance, type BalanceDefinition, unitOf } from '../../domain/reading.ts';
import { never } from '../../domain/urgency.ts';
import { type AccountState, accountStates, stateOf, urgencyPlace } from '../../views/account-summary.ts';
import type { AccountView } from '../../views/views.ts';
import type { Reader } from '../../wording/moments.ts';
import { commonBalances, leadingBalance } from '../../wording/quantity-wording.ts';
import { parseCursor, writeCursor } from '../api/input.ts';
import { mentionsAll, nameOf, withQuery } from './words.ts';

const sortKeys = ['urgency', 'runway', 'state', 'name', 'burn', 'age'] as const;

export type SortKey = (typeof sortKeys)[number] | Balance;

const balanceForm = /^[a-z0-9][\w.-]*$/i;

export type ListQuery = ReturnType<typeof readListQuery>;

export type AccountPage = ReturnType<AccountListing['page']>;

const pageSize = 100;
const maxSearchLength = 100;

/** Reads the query of the overview's address. Unknown values count as absent, so that a link never breaks. */
export function readListQuery(query: URLSearchParams) {
  const sort: SortKey = query.get('sort') ?? '';
  return {
    /** Words that must all occur in id, name or labels. */
    search: (query.get('q') ?? '').slice(0, maxSearchLength).trim(),
    state: accountStates.find((state) => state === query.get('state')) ?? null,
    sort: balanceForm.test(sort) ? sort : 'urgency',
    descending: query.get('order') === 'desc',
    /** The end of the previous page; null for the first one. */
    cursor: query.get('cursor') || null,
  };
}

/** The query as an address, without its default values. */
export function writeListQuery(query: ListQuery): string {
  const { search, state, sort, descending, cursor } = query;
  const order = descending ? 'desc' : null;
  return withQuery('/', { q: search, state, sort: sort === 'urgency' ? null : sort, order, cursor });
}

/**
 * One page of the accounts that a query selects, in its order, gathered in one pass over all accounts. Unknown values come last in either
 * direction. Of tens of thousands of accounts it keeps little more than the page, and sorts only those that may be on it.
 */
export class AccountListing {
  readonly #query: ListQuery;
  readonly #now: number;
  readonly #compare: (left: Place, right: Place) => number;
  /** The end of the previous page. Balances move while somebody turns pages: this page begins after that place. */
  readonly #last: Place | null;
  readonly #counts: Partial<Record<AccountState, number>> = {};
  readonly #lists = new Set<readonly BalanceDefinition[]>();
  #total = 0;
  #matching = 0;
  #before = 0;
  /** Accounts that may be on the page: those left by the last `#trim`, in order, then those added since. */
  readonly #held: { readonly account: AccountView; readonly place: Place }[] = [];
  /** The last place of a full page: an account after it is not on the page. */
  #farthest: Place | null = null;

  constructor(query: ListQuery, { language, now }: Pick<Reader, 'language' | 'now'>) {
    this.#query = query;
    this.#now = now;
    this.#compare = comparePlaces(query, language);
    this.#last = query.cursor === null ? null : parseCursor(query.cursor, placeSchema);
  }

  add(account: AccountView): void {
    const state = stateOf(account);
    this.#lists.add(account.balances);
    this.#total += 1;
    this.#counts[state] = (this.#counts[state] ?? 0) + 1;
    const { state: wanted, sort } = this.#query;
    if (wanted !== null && state !== wanted) return;
    if (!mentionsAll(this.#query.search, [account.id, account.name], account.labels)) return;
    this.#matching += 1;
    const place = placeOf(account, sort, this.#now);
    if (this.#last !== null && this.#compare(place, this.#last) <= 0) this.#before += 1;
    else if (this.#farthest === null || this.#compare(place, this.#farthest) < 0) {
      this.#held.push({ account, place });
      if (this.#held.length === 2 * pageSize) this.#trim();
    }
  }

  page() {
    this.#trim();
    const end = this.#held.at(-1);
    const more = end !== undefined && this.#before + this.#held.length < this.#matching;
    return {
      accounts: this.#held.map(({ account }) => account),
      matching: this.#matching,
      total: this.#total,
      before: this.#before,
      nextCursor: more ? writeCursor(end.place) : null,
      /** The balances, if all accounts have the same; else null. */
      balances: commonBalances(this.#lists),
      /** The number of accounts in each state, including those that the query leaves out. States without accounts are absent. */
      counts: this.#counts,
    };
  }

  #trim(): void {
    this.#held.sort((left, right) => this.#compare(left.place, right.place)).splice(pageSize);
    if (this.#held.length === pageSize) this.#farthest = this.#held.at(-1)?.place ?? null;
  }
}

/** The values that an account is sorted by: the key, null if unknown; the currency, for amounts; its state; name and id. */
const placeSchema = z.tuple([
  z.union([z.number(), z.string()]).nullable(),
  z.string(),
  z.int(),
  z.string(),
  z.string(),
]);

type Place = z.infer<typeof placeSchema>;

function placeOf(account: AccountView, sort: SortKey, now: number): Place {
  // Amounts of two currencies cannot be compared: accounts are grouped by currency.
  const isAmount = sort === 'burn' || !sortKeys.some((key) => key === sort);
  const currency = isAmount ? currencyCode(unitOf(account, sort) ?? '') : '';
  const state = accountStates.indexOf(stateOf(account));
  return [keyOf(account, sort, now), currency, state, nameOf(account.name), account.id];
}

/** Unknown values come last in either direction. Equal ones are sorted by state, the worst first, then by name. */
function comparePlaces(
  { descending, sort }: ListQuery,
  language: Reader['language'],
): (left: Place, right: Place) => number {
  const direction = descending ? -1 : 1;
  const compareKeys = (left: number | string, right: number | string): number =>
    sort === 'name' ? language.compare(String(left), String(right)) : compare(left, right);
  return ([key, currency, state, name, id], [otherKey, otherCurrency, otherState, otherName, otherId]) => {
    const known =
      key === null || otherKey === null
        ? Number(key === null) - Number(otherKey === null)
        : compare(currency, otherCurrency) || compareKeys(key, otherKey) * direction || state - otherState;
    return known || language.compare(name, otherName) || compare(id, otherId);
  };
}

function compare(left: number | string, right: number | string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** The key of an account. Ascending shows first what people look for: the shortest, the worst, the lowest, the highest burn, the oldest reading. */
function keyOf(account: AccountView, sort: SortKey, now: number): number | string | null {
  switch (sort) {
    case 'urgency': {
      const place = urgencyPlace(account, now);
      return place === never ? null : place;
    }
    case 'runway':
      return account.runways[leadingBalance(account)]?.runwayMs ?? null;
    case 'state':
      return accountStates.indexOf(stateOf(account));
    case 'name':
      return nameOf(account.name).toLowerCase();
    case 'burn': {
      const burn = account.runways[leadingBalance(account)]?.burnPerDay ?? null;
      return burn && -burn;
    }
    case 'age':
      return account.readAt;
    default:
      return account.reading?.balances[sort] ?? null;
  }
}
