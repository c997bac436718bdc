import { expect, it } from 'vitest';
import { urgencyOf } from '../../src/rules/urgency.ts';
import { SummedAccounts } from '../../src/views/account-summary.ts';
import type { AccountView } from '../../src/views/views.ts';
import { buildAccountView, buildRunway, dayMs, viewsNow } from '../support/built-views.ts';

function build(id: string, days: number | null, more: Partial<AccountView> = {}): AccountView {
  const emptyAt = days === null ? null : viewsNow + days * dayMs;
  const sms = buildRunway({ emptyAt, runwayMs: days === null ? null : days * dayMs });
  return buildAccountView({
    id,
    outcome: 'ok',
    worst: null,
    firing: 0,
    runways: { sms, voip: null },
    ...more,
  });
}

const fleet = [
  ...Array.from({ length: 40 }, (_, index) => build(`account-${index}`, 100 - index)),
  build('silent', null, { outcome: 'timeout' }),
  build('new', null, { outcome: null }),
  build('low', 300, { worst: 'warning', firing: 2 }),
  build('empty', 0.5, { worst: 'critical', firing: 1 }),
  build('soon', 1),
];

function summaryOf(limit: number) {
  const summary = new SummedAccounts(limit, viewsNow);
  for (const account of fleet) summary.add(account);
  return summary.end();
}

it('a summary that shows few accounts counts them all', () => {
  expect(summaryOf(2)).toMatchObject({ accounts: 45, firing: 3, failing: 1, waiting: 1, worst: 'critical' });
  expect(summaryOf(1).first?.id).toBe('empty');
});

it('an account to which nothing is pushed any more counts as one that cannot be read, not as one that ends soon', () => {
  const summary = new SummedAccounts(1, viewsNow);
  summary.add(build('pushed', 0.5, { isRead: false }));
  expect(summary.end()).toMatchObject({ failing: 1, endingSoon: 0 });
});

it('the most urgent are shown, and what cannot be read before all that has a date', () => {
  const idsOf = (limit: number) => summaryOf(limit).shown.map(({ id }) => id);
  expect(idsOf(1)).toEqual(['silent']);
  expect(idsOf(3)).toEqual(['silent', 'empty', 'soon']);
  expect(idsOf(45).slice(-2)).toEqual(['low', 'new']);
});

it('an account that cannot be read stands before what has a date also once an alert says so', () => {
  const urgency = urgencyOf(
    { type: 'stale', balance: null, since: viewsNow, severity: 'warning' },
    null,
    viewsNow,
  );
  const summary = new SummedAccounts(1, viewsNow);
  for (const account of [
    build('soon', 0.5, {
      worst: 'critical',
      firing: 1,
      urgency: { isEmpty: false, actBy: viewsNow + dayMs / 2 },
    }),
    build('stale', 50, { outcome: 'timeout', worst: 'warning', firing: 1, urgency }),
  ])
    summary.add(account);
  expect(summary.end().shown.map(({ id }) => id)).toEqual(['stale']);
});

it('of what is due now the worst is shown first, though the other runs out sooner and was looked at before', () => {
  const undated = { type: 'auth-failed', balance: null, since: 0 } as const;
  const summary = new SummedAccounts(1, viewsNow);
  for (const [at, severity] of (['warning', 'critical'] as const).entries()) {
    const urgency = urgencyOf({ ...undated, severity }, null, viewsNow + at);
    summary.add(build(severity, 5 + at, { worst: severity, firing: 1, urgency }));
  }
  expect(summary.end().shown.map(({ id }) => id)).toEqual(['critical']);
});

it('where all are shown, what runs out first comes first of those that are read', () => {
  const all = summaryOf(Number.POSITIVE_INFINITY).shown.map(({ id }) => id);
  expect(all).toHaveLength(45);
  expect(all.slice(0, 4)).toEqual(['silent', 'empty', 'soon', 'account-39']);
  expect(all.slice(-2)).toEqual(['low', 'new']);
});
