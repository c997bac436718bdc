import fc from 'fast-check';
import { expect, it } from 'vitest';
import { BalanceState } from '../../src/spending/balance-state.ts';
import { expectedFrom, lastsLonger, predict, type Walk } from '../../src/spending/forecast.ts';
import { farthestHours, hoursPerWeek } from '../../src/spending/local-week.ts';
import { dayMs, hourMs, units } from '../support/account-facts.ts';

const startsAt = Date.parse('2026-11-02T00:00:00Z');

/** Spending of each hour of a week, again and again; `isShaped` as where no monthly run lies ahead. */
function walkOf(week: readonly number[], { isShaped, runs }: { isShaped: boolean; runs: number }): Walk {
  const sums = new Float32Array(farthestHours + 1);
  for (let hour = 0; hour < farthestHours; hour++)
    sums[hour + 1] = (sums[hour] ?? 0) + units(week[hour % week.length] ?? 0);
  const weekly = (sums[farthestHours] ?? 0) - (sums[farthestHours - hoursPerWeek] ?? 0);
  const announced = Array.from({ length: runs }, (_, index) => ({
    ...{
      id: `run-${index}`,
      account: 'otp',
      balance: 'sms',
      comment: '',
      announcedBy: 'ada',
      announcedAt: 0,
    },
    ...{ amountMicros: units(5000), spentMicros: 0, usualMicros: 0 },
    ...{ startsAt: startsAt + (index * 40 + 1) * dayMs, endsAt: startsAt + (index * 40 + 3) * dayMs },
  }));
  return { startsAt, sums, weekly, isShaped, announced };
}

it('what lasts until an instant is what is expected until then, and lasts longer than anything shorter', () => {
  const state = new BalanceState();
  const hours = fc.array(fc.constantFrom(0, 0, 1, 20), { minLength: 1, maxLength: hoursPerWeek });
  fc.assert(
    fc.property(
      hours,
      fc.record({ isShaped: fc.boolean(), runs: fc.nat(2) }),
      fc.integer({ min: 1, max: 200_000 }),
      (week, kind, left) => {
        const walk = walkOf(week, kind);
        const at = startsAt + hourMs / 3;
        const { emptyAt } = predict(state, walk, { left: units(left), at });
        const forMs = (emptyAt ?? startsAt + 5 * 365 * dayMs) - at;
        if (emptyAt !== null) expect(expectedFrom(walk, at, forMs) / units(left)).toBeCloseTo(1, 6);
        const lasts = (ms: number) => lastsLonger(state, walk, { left: units(left), at, forMs: ms });
        expect(lasts(forMs - 5000)).toBe(true);
        if (emptyAt !== null) expect(lasts(forMs + hourMs * hoursPerWeek)).toBe(false);
      },
    ),
  );
});
