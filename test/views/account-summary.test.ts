import { expect, it } from 'vitest';
import { urgencyOf } from '../../src/rules/urgency.ts';
import { summarize } from '../../src/views/account-summary.ts';
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

function summaryOf(limit: number, accounts = fleet) {
  return summarize([accounts], viewsNow, limit);
}

it('a summary that shows few accounts counts them all', async () => {
  expect(await summaryOf(2)).toMatchObject({
    accounts: 45,
    firing: 3,
    failing: 1,
    waiting: 1,
    worst: 'critical',
  });
  expect((await summaryOf(1)).first?.id).toBe('empty');
});

it('an account to which nothing is pushed any more counts as one that cannot be read, not as one that ends soon', async () => {
  expect(await summaryOf(1, [build('pushed', 0.5, { isRead: false })])).toMatchObject({
    failing: 1,
    endingSoon: 0,
  });
});

it('the most urgent are shown, and what cannot be read before all that has a date', async () => {
  const idsOf = async (limit: number) => (await summaryOf(limit)).shown.map(({ id }) => id);
  expect(await idsOf(1)).toEqual(['silent']);
  expect(await idsOf(3)).toEqual(['silent', 'empty', 'soon']);
  expect((await idsOf(45)).slice(-2)).toEqual(['low', 'new']);
});

it('an account that cannot be read stands before what has a date also once an alert says so', async () => {
  const urgency = urgencyOf(
    { type: 'stale', balance: null, since: viewsNow, severity: 'warning' },
    null,
    viewsNow,
  );
  const accounts = [
    build('soon', 0.5, {
      worst: 'critical',
      firing: 1,
      urgency: { isEmpty: false, actBy: viewsNow + dayMs / 2 },
    }),
    build('stale', 50, { outcome: 'timeout', worst: 'warning', firing: 1, urgency }),
  ];
  const { shown } = await summaryOf(1, accounts);
  expect(shown.map(({ id }) => id)).toEqual(['stale']);
});

it('of what is due now the worst is shown first, though the other runs out sooner and was looked at before', async () => {
  const undated = { type: 'auth-failed', balance: null, since: 0 } as const;
  const accounts = (['warning', 'critical'] as const).map((severity, at) => {
    const urgency = urgencyOf({ ...undated, severity }, null, viewsNow + at);
    return build(severity, 5 + at, { worst: severity, firing: 1, urgency });
  });
  const { shown } = await summaryOf(1, accounts);
  expect(shown.map(({ id }) => id)).toEqual(['critical']);
});

it('where all are shown, what runs out first comes first of those that are read', async () => {
  const all = (await summaryOf(Number.POSITIVE_INFINITY)).shown.map(({ id }) => id);
  expect(all).toHaveLength(45);
  expect(all.slice(0, 4)).toEqual(['silent', 'empty', 'soon', 'account-39']);
  expect(all.slice(-2)).toEqual(['low', 'new']);
});
