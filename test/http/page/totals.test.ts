import { describe, expect, it } from 'vitest';
import { Totals } from '../../../src/http/page/totals.ts';
import type { AccountView } from '../../../src/views/views.ts';
import { english } from '../../../src/wording/language.ts';
import { buildAccountView, buildRunway, micros } from '../../support/built-views.ts';

const burning = (burnPerDay: number | null) => ({
  sms: buildRunway({ burnPerDay: burnPerDay === null ? null : micros(burnPerDay) }),
  voip: null,
});

function tableOf(accounts: readonly AccountView[]): string {
  const totals = new Totals();
  for (const account of accounts) totals.add(account);
  return totals.table({ language: english, now: 0, timezone: 'UTC' })?.markup ?? '';
}

function burnCell(...burns: readonly (number | null)[]): string {
  const accounts = burns.map((burn, index) =>
    buildAccountView({ id: `a${index}`, name: 'A', runways: burning(burn), labels: {} }),
  );
  const table = tableOf(accounts);
  return /data-label="Burn per day">(.*?)<\/td>/.exec(table)?.[1] ?? 'no such cell';
}

describe('the totals of a currency', () => {
  it('sum the burn of all accounts', () => {
    expect(burnCell(12, 30)).toBe('42.00 CNY');
  });

  it('say of how many accounts the burn is not known', () => {
    expect(burnCell(12, null)).toMatch(/^12\.00 CNY <.*1 not known yet/);
  });

  it('are one for all names that people have for it', () => {
    const readings = ['CNY', 'rmb'].map((currency) => ({
      at: 0,
      balances: { sms: micros(1), voip: micros(2) },
      currency,
    }));
    const accounts = readings.map((reading) => buildAccountView({ reading }));
    const table = tableOf(accounts);
    expect(table.match(/<bdi>CNY/g)).toHaveLength(1);
    expect(table).not.toContain('rmb');
    expect(table).toContain('2.00');
  });

  it('say how many of its accounts were never read and are in no sum, also where no currency is known', () => {
    const reading = { at: 0, balances: { sms: micros(1), voip: micros(2) }, currency: 'CNY' };
    const currencies = ['rmb', 'rmb', 'EUR', null];
    const accounts = [reading, null, null, null].map((read, index) =>
      buildAccountView({ id: `a${index}`, reading: read, currency: currencies[index] ?? null }),
    );
    const table = tableOf(accounts);
    expect(table).toMatch(/1 account <.*1 never read, not in the sums/);
    expect(table).not.toContain('EUR');
    expect(table).toContain('<p class="note unread">2 never read, not in the sums</p>');
  });

  it('name a balance that is used up as the first one empty, before those that have a date', () => {
    const firstOf = (...runways: readonly object[]): string => {
      const accounts = runways.map((runway, index) =>
        buildAccountView({
          id: `a${index}`,
          name: `A${index}`,
          runways: { sms: buildRunway(runway), voip: null },
        }),
      );
      return /data-label="First empty">(.*?)<\/td>/.exec(tableOf(accounts))?.[1] ?? '';
    };
    const later = { emptyAt: 86_400_000 };
    const over = { runwayMs: 0, emptyAt: null };
    expect(firstOf(later)).toContain('A0');
    expect(firstOf(later, over)).toMatch(/>used up<.*A1/);
    expect(firstOf(later, { ...over, isEndPredicted: true }, over)).toMatch(/>used up by the forecast<.*A1/);
  });

  it('call no burn known where none is', () => {
    expect(burnCell(null, null)).not.toMatch(/\d/);
  });
});
