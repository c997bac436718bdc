import { expect, it } from 'vitest';
import type { Quantity } from '../../../src/domain/quantity.ts';
import { balanceCell, runwayCell } from '../../../src/http/page/markup.ts';
import { whenWords } from '../../../src/http/page/to-pay.ts';
import { mentionsAll } from '../../../src/http/page/words.ts';
import { english } from '../../../src/wording/language.ts';
import { buildAccountView, buildAlertView, buildRunway, dayMs, viewsNow } from '../../support/built-views.ts';
import { FakeViews } from '../../support/fake-views.ts';

const frame = { language: english, now: viewsNow, timezone: 'UTC' };

function runwayOf(days: number): string {
  const emptyAt = viewsNow + days * dayMs;
  const forecast = {
    emptyAt,
    earliest: emptyAt - dayMs,
    latest: emptyAt + dayMs,
    basis: 'hour-of-week',
  } as const;
  const sms = buildRunway({ runwayMs: days * dayMs, emptyAt, forecast });
  return runwayCell(buildAccountView({ runways: { sms, voip: null } }), 'sms', frame).markup;
}

it('the card of an account says between what its end lies', () => {
  expect(runwayOf(3)).toMatch(/3 days.*ends.*Mon 23 Nov 18:41.*between Sun 18:41 and Tue 18:41/s);
});

it('beyond a year it says that alone, and nothing of what is not known', () => {
  expect(runwayOf(400)).toContain('over a year');
  expect(runwayOf(400)).not.toContain('ends');
  expect(runwayCell(buildAccountView({ runways: { sms: null, voip: null } }), 'sms', frame).markup).toContain(
    'unknown',
  );
});

it('below an alert that says how long a balance lasts, nothing calls that unknown', () => {
  const sms = buildRunway({ runwayMs: null, burnPerDay: null, emptyAt: null });
  const account = buildAccountView({ runways: { sms, voip: null } });
  const scope = { ...frame, views: new FakeViews(), query: new URLSearchParams() };
  const below = (value: Quantity) => whenWords(buildAlertView({ value }), account, scope).markup;
  expect(below({ unit: 'money', micros: 42_100_000 })).toContain('how long it lasts is unknown');
  expect(below({ unit: 'duration', ms: dayMs })).not.toContain('unknown');
});

it('an amount says how old it is once polls have failed for 15 seconds', () => {
  const shown = (failing: boolean, ageMs: number) => {
    const reading = { at: viewsNow - ageMs, balances: { sms: 42_100_000 }, currency: 'CNY' };
    const view = buildAccountView({ reading, readAt: reading.at, outcome: failing ? 'timeout' : 'ok' });
    return balanceCell(view, 'sms', frame).markup.replaceAll(/<[^>]+>/g, '');
  };
  expect(shown(true, 16_000)).toBe('42.10 CNY 16 seconds ago');
  expect(shown(true, 14_000)).toBe('42.10 CNY');
  expect(shown(false, 290_000)).toBe('42.10 CNY');
});

it.each([
  ['produccion', 'Producción 生产'],
  ['PRODUCCIÓN', 'produccion'],
  ['生产', 'Producción 生产'],
  ['otp2', 'ＯＴＰ２ 生产'],
  ['uberwachung', 'Überwachung'],
])('a search for %s finds %s: case, accents and full width do not matter', (search, name) => {
  expect(mentionsAll(search, [name], {})).toBe(true);
  expect(mentionsAll('nothing', [name], {})).toBe(false);
});
