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

/** Reads the query of the overview's address. What it does not know it takes for absent: a link never breaks. */
export function readListQuery(query: URLSearchParams) {
  const sort: SortKey = query.get('sort') ?? '';
  return {
    /** Words that all must stand in id, name or labels. */
    search: (query.get('q') ?? '').slice(0, maxSearchLength).trim(),
    state: accountStates.find((state) => state === query.get('state')) ?? null,
    sort: balanceForm.test(sort) ? sort : 'urgency',
    descending: query.get('order') === 'desc',
    /** The end of the page before; null for the first one. */
    cursor: query.get('cursor') || null,
  };
}

/** The query as an address again; what is as usual is left out. */
export function writeListQuery(query: ListQuery): string {
  const { search, state, sort, descending, cursor } = query;
  const order = descending ? 'desc' : null;
  return withQuery('/', { q: search, state, sort: sort === 'urgency' ? null : sort, order, cursor });
}

/**
 * One page of the accounts that a query selects, in its order, made while all of them come by. Unknown values come last in either
 * direction. Of tens of thousands it holds little more than the page, and nothing is sorted that does not come near it.
 */
export class AccountListing {
  readonly #query: ListQuery;
  readonly #now: number;
  readonly #compare: (left: Place, right: Place) => number;
  /** The end of the page before. Balances move while somebody turns pages: this one begins behind that place. */
  readonly #last: Place | null;
  readonly #counts: Partial<Record<AccountState, number>> = {};
  readonly #lists = new Set<readonly BalanceDefinition[]>();
  #total = 0;
  #matching = 0;
  #before = 0;
  /** Accounts that may stand on the page: after `#trim` its accounts in order, and after them what came since. */
  readonly #held: { readonly account: AccountView; readonly place: Place }[] = [];
  /** An account behind it stands on no full page. */
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
      /** The balances that all accounts have; null where accounts have different ones. */
      balances: commonBalances(this.#lists),
      /** Counts of all accounts, also those that the query leaves out; of a state that none is in there is none. */
      counts: this.#counts,
    };
  }

  #trim(): void {
    this.#held.sort((left, right) => this.#compare(left.place, right.place)).splice(pageSize);
    if (this.#held.length === pageSize) this.#farthest = this.#held.at(-1)?.place ?? null;
  }
}

/** The sort keys of an account: the key, null where unknown; the currency where that counts; its state; name and id. */
const placeSchema = z.tuple([
  z.union([z.number(), z.string()]).nullable(),
  z.string(),
  z.int(),
  z.string(),
  z.string(),
]);

type Place = z.infer<typeof placeSchema>;

function placeOf(account: AccountView, sort: SortKey, now: number): Place {
  // Amounts of two currencies have no order: each currency stands for itself.
  const isAmount = sort === 'burn' || !sortKeys.some((key) => key === sort);
  const currency = isAmount ? currencyCode(unitOf(account, sort) ?? '') : '';
  const state = accountStates.indexOf(stateOf(account));
  return [keyOf(account, sort, now), currency, state, nameOf(account.name), account.id];
}

/** The unknown comes last in either direction; what is alike has an order of its own: the worst, then by name. */
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

/** Ascending is what people look for first: the shortest, the worst, the lowest, the highest burn, the oldest reading. */
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
