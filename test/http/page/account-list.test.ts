import { describe, expect, it } from 'vitest';
import {
  AccountListing,
  type ListQuery,
  readListQuery,
  writeListQuery,
} from '../../../src/http/page/account-list.ts';
import { urgencyOf } from '../../../src/rules/urgency.ts';
import { english } from '../../../src/wording/language.ts';
import { buildAccountView, buildRunway, dayMs, micros, viewsNow } from '../../support/built-views.ts';

const runway = (days: number | null) => ({
  sms: buildRunway({ runwayMs: days === null ? null : days * dayMs }),
  voip: null,
});
const accounts = [
  buildAccountView({ id: 'a', name: 'Alpha', runways: runway(30), labels: { team: 'identity' } }),
  buildAccountView({ id: 'b', name: 'Beta', runways: runway(null), labels: { team: 'growth' } }),
  buildAccountView({ id: 'c', name: 'Gamma', runways: runway(2), worst: 'warning', firing: 1, labels: {} }),
  buildAccountView({ id: 'd', name: 'Delta', runways: runway(0), worst: 'critical', firing: 1, labels: {} }),
  buildAccountView({
    id: 'e',
    name: 'Epsilon',
    currency: 'EUR',
    labels: {},
    runways: {
      sms: buildRunway({ runwayMs: 90 * dayMs }),
      voip: buildRunway({ balance: 'voip', runwayMs: dayMs }),
    },
    reading: { at: 0, balances: { sms: micros(1), voip: micros(2) }, currency: 'EUR' },
  }),
];
const listAccounts = (all: typeof accounts, query: ListQuery) => {
  const listing = new AccountListing(query, { language: english, now: viewsNow });
  for (const account of all) listing.add(account);
  return listing.page();
};
const ids = (query: string) =>
  listAccounts(accounts, readListQuery(new URLSearchParams(query))).accounts.map(({ id }) => id);

describe('the list of accounts', () => {
  it('begins with the shortest runway of either balance and ends with the unknown', () => {
    expect(ids('sort=runway')).toEqual(['d', 'e', 'c', 'a', 'b']);
  });

  it.each([
    ['state, worst first', 'sort=state', ['d', 'c', 'a', 'b', 'e']],
    ['name', 'sort=name', ['a', 'b', 'd', 'e', 'c']],
    ['name, backwards', 'sort=name&order=desc', ['c', 'e', 'd', 'b', 'a']],
    ['runway, backwards, the unknown still last', 'sort=runway&order=desc', ['a', 'c', 'e', 'd', 'b']],
    ['the lowest SMS balance, each currency for itself', 'sort=sms', ['d', 'c', 'a', 'b', 'e']],
  ])('sorts by %s', (_what, query, expected) => {
    expect(ids(query)).toEqual(expected);
  });

  it('by urgency puts what cannot be read before what is fine, though that has a date to pay by', () => {
    const unread = { outcome: 'timeout', readAt: null, reading: null } as const;
    const never = buildAccountView({ id: 'z', name: 'Zeta', runways: runway(null), ...unread });
    const emptyAt = viewsNow + 20 * dayMs;
    const sms = buildRunway({ emptyAt, payBy: emptyAt, runwayMs: 20 * dayMs });
    const fine = buildAccountView({ id: 'f', name: 'Fine', runways: { sms, voip: null } });
    const listed = listAccounts([fine, never], readListQuery(new URLSearchParams()));
    expect(listed.accounts.map(({ id }) => id)).toEqual(['z', 'f']);
  });

  it('calls no account fine that may be empty within a day without an alert', () => {
    const soon = buildAccountView({ id: 's', runways: runway(0.5) });
    const { counts } = listAccounts([...accounts, soon], readListQuery(new URLSearchParams()));
    expect([counts.ending, counts.fine, counts.critical]).toEqual([1, 3, 1]);
  });

  it.each([
    ['a state', 'state=critical', ['d']],
    ['a part of a name in any case', 'q=LTA', ['d']],
    ['an id', 'q=b', ['b']],
    ['a label', 'q=team%3Didentity', ['a']],
    ['two words that both must stand there', 'q=growth+beta', ['b']],
    ['what nothing matches', 'q=zz', []],
  ])('finds by %s', (_what, query, expected) => {
    expect(ids(query)).toEqual(expected);
  });

  it('counts the states of all accounts, no matter which are shown', () => {
    const { counts, total, matching } = listAccounts(accounts, readListQuery(new URLSearchParams('q=alpha')));
    expect([counts.critical, counts.warning, counts.fine, total, matching]).toEqual([1, 1, 3, 5, 1]);
  });

  it('shows a hundred a page, and begins the next one behind the last that was shown', () => {
    const many = Array.from({ length: 250 }, (_, index) =>
      buildAccountView({
        id: `n${index}`,
        name: String(index),
        runways: runway(index < 240 ? index : null),
      }),
    );
    const page = (all: typeof many, cursor: string | null) =>
      listAccounts(all, { ...readListQuery(new URLSearchParams('sort=runway')), cursor });
    const first = page(many, null);
    const second = page(many, first.nextCursor);
    const third = page(many, second.nextCursor);
    const shown = [first, second, third].map(({ accounts, before }) => [before, accounts.length]);
    expect(shown).toEqual([
      [0, 100],
      [100, 100],
      [200, 50],
    ]);
    expect(third.nextCursor).toBeNull();
    expect(second.accounts[0]?.id).toBe('n100');
    // The last one of the first page has jumped to the end meanwhile.
    const moved = many.map((account) =>
      account.id === 'n99' ? { ...account, runways: runway(999) } : account,
    );
    expect(page(moved, first.nextCursor).accounts[0]?.id).toBe('n100');
    expect(page(many, 'nonsense').before).toBe(0);
  });

  it('goes on behind the accounts of the page before also where all of them are due now, a moment later', () => {
    const refused = { type: 'auth-failed', balance: null, severity: 'critical', since: 0 } as const;
    const page = (now: number, cursor: string | null) =>
      listAccounts(
        Array.from({ length: 150 }, (_, index) => {
          const urgency = urgencyOf(refused, null, now);
          return buildAccountView({ id: `n${100 + index}`, name: '', worst: 'critical', firing: 1, urgency });
        }),
        { ...readListQuery(new URLSearchParams()), cursor },
      );
    const second = page(viewsNow + 5, page(viewsNow, null).nextCursor);
    expect([second.before, second.accounts[0]?.id, second.nextCursor]).toEqual([100, 'n200', null]);
  });

  it('shows the same regardless of the order in which the accounts come by', () => {
    const many = Array.from({ length: 1000 }, (_, index) =>
      buildAccountView({ id: `n${index}`, name: String(index), runways: runway((index * 617) % 1000) }),
    );
    const query = readListQuery(new URLSearchParams('sort=runway'));
    const first = listAccounts(many, query);
    expect(first.accounts.map(({ runways }) => runways.sms?.runwayMs)).toEqual(
      Array.from({ length: 100 }, (_, days) => days * dayMs),
    );
    const second = listAccounts(many.toReversed(), { ...query, cursor: first.nextCursor });
    expect([second.before, second.matching, second.accounts.length]).toEqual([100, 1000, 100]);
    expect(second.accounts.at(-1)?.runways.sms?.runwayMs).toBe(199 * dayMs);
  });

  it('writes a query as it reads it, and leaves out what is usual', () => {
    expect(writeListQuery(readListQuery(new URLSearchParams('')))).toBe('/');
    const text = '/?q=a+b&state=warning&sort=name&order=desc&cursor=abc';
    expect(writeListQuery(readListQuery(new URLSearchParams(text.slice(2))))).toBe(text);
    expect(writeListQuery(readListQuery(new URLSearchParams('state=nonsense&sort=__proto__')))).toBe('/');
  });
});
