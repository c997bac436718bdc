import { expect, it } from 'vitest';
import { runwayCell } from '../../../src/http/page/words.ts';
import { buildAccountView, buildRunway, dayMs, viewsNow } from '../../support/fake-views.ts';

const frame = { now: viewsNow, timezone: 'UTC' };

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
