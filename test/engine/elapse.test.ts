import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AlertTiming } from '../../src/domain/alert.ts';
import { severities } from '../../src/domain/severity.ts';
import { elapse, elapsesAt, inactiveAlert, transition } from '../../src/engine/transition.ts';
import type { Evaluation } from '../../src/rules/evaluation.ts';

const numbers = { value: null, threshold: null, facts: [] };

const someVerdict: fc.Arbitrary<Evaluation> = fc.oneof(
  fc.constant({ kind: 'ok' as const, ...numbers }),
  fc.constantFrom(...severities).map((severity) => ({ kind: 'breached' as const, severity, ...numbers })),
);

const someTiming: fc.Arbitrary<AlertTiming> = fc.record({
  forMs: fc.constantFrom(0, 7, 30),
  recoverForMs: fc.constantFrom(0, 4, 50),
  flapWindowMs: fc.constantFrom(0, 40, 100),
});

describe('what time alone makes of an alert', () => {
  it('is done when it is due: the daemon is never woken again for the same instant', () => {
    const someSteps = fc.array(fc.tuple(fc.integer({ min: 1, max: 12 }), someVerdict), { maxLength: 40 });
    fc.assert(
      fc.property(someTiming, someSteps, (timing, steps) => {
        let alert = inactiveAlert({ account: 'otp', rule: 'low', type: 'below', balance: 'sms' });
        let now = 0;
        for (const [afterMs, verdict] of steps) {
          now += afterMs;
          alert = transition(alert, verdict, timing, now).alert;
          for (let rounds = 0; (elapsesAt(alert, timing) ?? Number.POSITIVE_INFINITY) <= now; rounds++) {
            expect(rounds).toBeLessThan(3);
            alert = elapse(alert, timing, now).alert;
          }
        }
        // And once nothing more is read, everything comes to rest.
        for (let rounds = 0; ; rounds++) {
          const dueAt = elapsesAt(alert, timing);
          if (dueAt === null) break;
          expect(rounds).toBeLessThan(6);
          now = Math.max(now, dueAt);
          alert = elapse(alert, timing, now).alert;
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('lets an alert that flaps calm down while a worse severity waits for `for`', () => {
    const timing = { forMs: 600, recoverForMs: 0, flapWindowMs: 3000 };
    const flapping = {
      ...inactiveAlert({ account: 'otp', rule: 'low', type: 'below', balance: 'sms' }),
      state: 'firing' as const,
      severity: 'warning' as const,
      incident: 'i-1',
      breachedSince: 0,
      changedAt: [0, 1, 2, 3, 4, 5],
      flappingSince: 5,
      rising: { severity: 'critical' as const, since: 2900 },
    };
    const calm = elapse(flapping, timing, 3003);
    expect(calm.change).toBe('steadied');
    expect(elapsesAt(calm.alert, timing)).toBe(3500);
    expect(elapse(calm.alert, timing, 3500)).toMatchObject({
      change: 'rose',
      alert: { severity: 'critical' },
    });
  });
});
