import type { AccountView } from '../../views/views.ts';
import { type AccountState, accountStates, leadingBalance, runwayOf, stateOf } from './words.ts';

const sortKeys = ['runway', 'state', 'name', 'sms', 'voip', 'burn', 'age'] as const;

export type SortKey = (typeof sortKeys)[number];

/** What the address of the overview asks for. */
export interface ListQuery {
  /** Words that all must stand in id, name or labels. */
  readonly search: string;
  readonly state: AccountState | null;
  readonly sort: SortKey;
  readonly descending: boolean;
  /** From 1. */
  readonly page: number;
}

export interface AccountPage {
  readonly accounts: readonly AccountView[];
  readonly matching: number;
  readonly total: number;
  readonly page: number;
  readonly pages: number;
  /** Of all accounts, whatever the query. */
  readonly counts: Readonly<Record<AccountState, number>>;
}

const pageSize = 50;
const longestSearch = 100;

/** Reads the query of the overview's address. What it does not know it takes for absent: a link never breaks. */
export function readListQuery(query: URLSearchParams): ListQuery {
  const page = Number(query.get('page') ?? '1');
  return {
    search: (query.get('q') ?? '').slice(0, longestSearch).trim(),
    state: accountStates.find((state) => state === query.get('state')) ?? null,
    sort: sortKeys.find((key) => key === query.get('sort')) ?? 'runway',
    descending: query.get('order') === 'desc',
    page: Number.isSafeInteger(page) && page > 0 ? page : 1,
  };
}

/** The query as an address again; what is as usual is left out. */
export function writeListQuery(query: ListQuery): string {
  const parameters = new URLSearchParams();
  if (query.search !== '') parameters.set('q', query.search);
  if (query.state !== null) parameters.set('state', query.state);
  if (query.sort !== 'runway') parameters.set('sort', query.sort);
  if (query.descending) parameters.set('order', 'desc');
  if (query.page > 1) parameters.set('page', String(query.page));
  const text = parameters.toString();
  return text === '' ? '/' : `/?${text}`;
}

/** One page of the accounts that the query selects, in its order. Unknown values come last in either direction. */
export function listAccounts(accounts: readonly AccountView[], query: ListQuery): AccountPage {
  const counts = countStates(accounts);
  const words = query.search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const matching = accounts.filter((account) => {
    return (
      (query.state === null || stateOf(account) === query.state) &&
      words.every((word) => mentions(account, word))
    );
  });
  const sorted = sortAccounts(matching, query);
  const pages = Math.max(1, Math.ceil(sorted.length / pageSize));
  const page = Math.min(query.page, pages);
  return {
    accounts: sorted.slice((page - 1) * pageSize, page * pageSize),
    matching: sorted.length,
    total: accounts.length,
    page,
    pages,
    counts,
  };
}

function countStates(accounts: readonly AccountView[]): Record<AccountState, number> {
  const counts = { critical: 0, warning: 0, info: 0, unread: 0, pending: 0, waiting: 0, fine: 0 };
  for (const account of accounts) counts[stateOf(account)] += 1;
  return counts;
}

function mentions({ id, name, labels }: AccountView, word: string): boolean {
  if (id.includes(word) || name.toLowerCase().includes(word)) return true;
  return Object.entries(labels).some(([key, value]) => `${key}=${value}`.toLowerCase().includes(word));
}

/** Amounts of two currencies have no order: each currency stands for itself. */
const amounts: ReadonlySet<SortKey> = new Set(['sms', 'voip', 'burn']);

function compareTexts(left: string | null, right: string | null): number {
  return (left ?? '') < (right ?? '') ? -1 : left === right ? 0 : 1;
}

function sortAccounts(
  accounts: readonly AccountView[],
  { sort, descending }: ListQuery,
): readonly AccountView[] {
  const keyed = accounts.map((account) => ({ account, key: keyOf(account, sort) }));
  const direction = descending ? -1 : 1;
  keyed.sort((left, right) => {
    if (left.key === null || right.key === null) {
      return (
        Number(left.key === null) - Number(right.key === null) || compareNames(left.account, right.account)
      );
    }
    const order = left.key < right.key ? -1 : left.key > right.key ? 1 : 0;
    return (
      (amounts.has(sort) ? compareTexts(left.account.currency, right.account.currency) : 0) ||
      order * direction ||
      worseFirst(left.account, right.account) ||
      compareNames(left.account, right.account)
    );
  });
  return keyed.map(({ account }) => account);
}

/**
 * Ascending is what people look for first: the shortest, the worst, the lowest, the highest burn, the oldest
 * reading.
 */
function keyOf(account: AccountView, sort: SortKey): number | string | null {
  switch (sort) {
    case 'runway':
      return runwayOf(account);
    case 'state':
      return accountStates.indexOf(stateOf(account));
    case 'name':
      return account.name.toLowerCase();
    case 'sms':
    case 'voip':
      return account.reading?.[sort] ?? null;
    case 'burn':
      return negate(account.outlooks[leadingBalance(account)]?.burnPerDay ?? null);
    case 'age':
      return account.readAt;
  }
}

function negate(value: number | null): number | null {
  return value === null ? null : -value;
}

function worseFirst(left: AccountView, right: AccountView): number {
  return accountStates.indexOf(stateOf(left)) - accountStates.indexOf(stateOf(right));
}

function compareNames(left: AccountView, right: AccountView): number {
  return left.name < right.name ? -1 : left.name > right.name ? 1 : 0;
}
