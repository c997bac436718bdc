import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Alert, AlertTiming } from '../../src/domain/alert.ts';
import { type Severity, severities } from '../../src/domain/severity.ts';
import {
  elapse,
  elapsesAt,
  inactiveAlert,
  isAtRest,
  shiftAlert,
  type Transition,
  transition,
} from '../../src/engine/transition.ts';
import type { Evaluation } from '../../src/rules/evaluation.ts';

/** Minutes are enough to tell instants apart. */
const minute = 60_000;
const timing: AlertTiming = { forMs: 10 * minute, recoverForMs: 10 * minute, flapWindowMs: 50 * minute };
/** Every row happens at this minute. */
const now = 100;

const base = inactiveAlert({ account: 'otp', rule: 'sms-low', type: 'below', balance: 'sms' });
const pending: Alert = { ...base, state: 'pending', severity: 'warning', breachedSince: (now - 5) * minute };
const firing: Alert = {
  ...base,
  state: 'firing',
  severity: 'warning',
  breachedSince: (now - 30) * minute,
  incident: 'i-1',
  changedAt: [(now - 20) * minute],
};
const recovering: Alert = { ...firing, recoveringSince: (now - 5) * minute };
const rising: Alert = { ...firing, rising: { severity: 'critical', since: (now - 5) * minute } };
/** Six changes, the third-last at minute 80: it calms at minute 130. */
const flapping: Alert = {
  ...firing,
  changedAt: [60, 70, 75, 80, 85, 90].map((at) => at * minute),
  flappingSince: 90 * minute,
};

const states = { inactive: base, pending, firing, recovering, rising, flapping };

type StateName = keyof typeof states;

const numbers = { value: null, threshold: null, facts: [] } as const;
const ok: Evaluation = { kind: 'ok', ...numbers };
const unknown: Evaluation = { kind: 'unknown', why: 'no reading yet', ...numbers };

function breach(severity: Severity): Evaluation {
  return { kind: 'breached', severity, ...numbers };
}

/** Events, each at the minute that makes it true. */
const events = {
  'a breach of the same severity': (alert: Alert) =>
    transition(alert, breach('warning'), timing, now * minute),
  'a worse breach': (alert: Alert) => transition(alert, breach('critical'), timing, now * minute),
  'a milder breach': (alert: Alert) => transition(alert, breach('info'), timing, now * minute),
  'a good reading': (alert: Alert) => transition(alert, ok, timing, now * minute),
  'no verdict': (alert: Alert) => transition(alert, unknown, timing, now * minute),
  'time, before anything is over': (alert: Alert) => elapse(alert, timing, now * minute),
  'time, when `for` and `recoverFor` are over': (alert: Alert) => elapse(alert, timing, (now + 5) * minute),
  'time, when it has calmed': (alert: Alert) => elapse(alert, timing, (now + 30) * minute),
};

type EventName = keyof typeof events;

/** State, severity and change that come of each event: "firing warning: fell". */
const table: Record<StateName, Record<EventName, string>> = {
  inactive: {
    'a breach of the same severity': 'pending warning: pending',
    'a worse breach': 'pending critical: pending',
    'a milder breach': 'pending info: pending',
    'a good reading': 'inactive info: none',
    'no verdict': 'inactive info: none',
    'time, before anything is over': 'inactive info: none',
    'time, when `for` and `recoverFor` are over': 'inactive info: none',
    'time, when it has calmed': 'inactive info: none',
  },
  pending: {
    'a breach of the same severity': 'pending warning: none',
    'a worse breach': 'pending critical: moved',
    'a milder breach': 'pending info: moved',
    'a good reading': 'inactive warning: withdrawn',
    'no verdict': 'pending warning: none',
    'time, before anything is over': 'pending warning: none',
    'time, when `for` and `recoverFor` are over': 'firing warning: fired',
    'time, when it has calmed': 'firing warning: fired',
  },
  firing: {
    'a breach of the same severity': 'firing warning: none',
    'a worse breach': 'firing warning rising critical: moved',
    'a milder breach': 'firing info: fell',
    'a good reading': 'firing warning recovering: recovering',
    'no verdict': 'firing warning: none',
    'time, before anything is over': 'firing warning: none',
    'time, when `for` and `recoverFor` are over': 'firing warning: none',
    'time, when it has calmed': 'firing warning: none',
  },
  recovering: {
    'a breach of the same severity': 'firing warning: relapsed',
    'a worse breach': 'firing warning rising critical: relapsed',
    'a milder breach': 'firing info: fell',
    'a good reading': 'firing warning recovering: none',
    'no verdict': 'firing warning recovering: none',
    'time, before anything is over': 'firing warning recovering: none',
    'time, when `for` and `recoverFor` are over': 'inactive warning: resolved',
    'time, when it has calmed': 'inactive warning: resolved',
  },
  rising: {
    'a breach of the same severity': 'firing warning: moved',
    'a worse breach': 'firing warning rising critical: none',
    'a milder breach': 'firing info: fell',
    'a good reading': 'firing warning recovering: recovering',
    'no verdict': 'firing warning rising critical: none',
    'time, before anything is over': 'firing warning rising critical: none',
    'time, when `for` and `recoverFor` are over': 'firing critical: rose',
    'time, when it has calmed': 'firing critical: rose',
  },
  flapping: {
    'a breach of the same severity': 'firing warning flapping: none',
    'a worse breach': 'firing warning rising critical flapping: moved',
    'a milder breach': 'firing info flapping: fell',
    'a good reading': 'firing warning recovering flapping: recovering',
    'no verdict': 'firing warning flapping: none',
    'time, before anything is over': 'firing warning flapping: none',
    'time, when `for` and `recoverFor` are over': 'firing warning flapping: none',
    'time, when it has calmed': 'firing warning: steadied',
  },
};

function word({ alert, change }: Transition): string {
  const parts: string[] = [alert.state, alert.severity];
  if (alert.recoveringSince !== null) parts.push('recovering');
  if (alert.rising !== null) parts.push(`rising ${alert.rising.severity}`);
  if (alert.flappingSince !== null) parts.push('flapping');
  return `${parts.join(' ')}: ${change}`;
}

const rows = Object.entries(table).flatMap(([state, outcomes]) =>
  Object.entries(outcomes).map(([event, outcome]) => ({ state, event, outcome })),
) as readonly { state: StateName; event: EventName; outcome: string }[];

test.each(rows)('$state, then $event: $outcome', ({ state, event, outcome }) => {
  expect(word(events[event](states[state]))).toBe(outcome);
});

test('only an alert that is inactive or recovers is at rest', () => {
  const resting = Object.entries(states).filter(([, alert]) => isAtRest(alert));
  expect(resting.map(([name]) => name)).toEqual(['inactive', 'recovering']);
  expect(isAtRest(null)).toBe(true);
});

test.each([
  ['an inactive alert', base, null],
  ['a pending one', pending, now + 5],
  ['a firing one', firing, null],
  ['one that recovers', recovering, now + 5],
  ['one of which something worse waits', rising, now + 5],
  ['one that flaps', flapping, now + 30],
  ['one that flaps and of which something worse waits', { ...flapping, rising: rising.rising }, now + 5],
  ['one that flaps and recovers', { ...flapping, recoveringSince: recovering.recoveringSince }, now + 30],
])('time has something to do with %s at its instant', (_, alert, minutes) => {
  expect(elapsesAt(alert, timing)).toBe(minutes && minutes * minute);
});

describe('an alert', () => {
  const atOnce: AlertTiming = { forMs: 0, recoverForMs: 0, flapWindowMs: 50 * minute };

  test.each([
    ['fires at the reading without `for`', base, breach('critical'), 'firing critical: fired'],
    ['rises at the reading without `for`', firing, breach('critical'), 'firing critical: rose'],
    ['resolves at the reading without `recoverFor`', firing, ok, 'inactive warning: resolved'],
    ['rises out of a recovery', recovering, breach('critical'), 'firing critical: rose'],
    [
      'that flaps is held over a good reading',
      flapping,
      ok,
      'firing warning recovering flapping: recovering',
    ],
  ])('%s', (_, alert, evaluation, outcome) => {
    expect(word(transition(alert, evaluation, atOnce, now * minute))).toBe(outcome);
  });

  test('that is pending fires with the severity that it has when `for` is over', () => {
    const worse = transition(pending, breach('critical'), timing, now * minute).alert;
    expect(word(elapse(worse, timing, (now + 5) * minute))).toBe('firing critical: fired');
  });

  test('rises when something worse has lasted `for`, however much worse it was in between', () => {
    const mild: Alert = { ...firing, severity: 'info' };
    const first = transition(mild, breach('critical'), timing, now * minute).alert;
    const second = transition(first, breach('warning'), timing, (now + 9) * minute).alert;
    expect(word(elapse(second, timing, (now + 10) * minute))).toBe('firing warning: rose');
  });

  test('takes the facts of an evaluation that has them', () => {
    const facts = [{ name: 'balance', value: { unit: 'count', count: 2 } }] as const;
    const before = [{ name: 'balance', value: { unit: 'count', count: 1 } }] as const;
    const evaluation: Evaluation = { kind: 'breached', severity: 'warning', ...numbers, facts };
    expect(transition({ ...firing, facts: before }, evaluation, timing, 0).alert.facts).toBe(facts);
  });

  test('keeps the facts of its last change while evaluations come without them', () => {
    const facts = [{ name: 'balance', value: { unit: 'count', count: 1 } }] as const;
    expect(transition({ ...firing, facts }, breach('warning'), timing, 0).alert.facts).toBe(facts);
  });

  test('flaps with the sixth change within the window, not with the fifth', () => {
    const changes = [52, 60, 70, 80, 90].map((at) => at * minute);
    const five = transition({ ...firing, changedAt: changes.slice(1) }, ok, atOnce, now * minute);
    expect(word(five)).toBe('inactive warning: resolved');
    expect(word(transition({ ...firing, changedAt: changes }, ok, atOnce, now * minute))).toBe(
      'firing warning recovering flapping: flapping',
    );
    // One minute later the first of them is out of the window.
    expect(word(transition({ ...firing, changedAt: changes }, ok, atOnce, (now + 2) * minute))).toBe(
      'inactive warning: resolved',
    );
  });

  test('calms while something worse waits for `for`', () => {
    const both: Alert = { ...flapping, rising: { severity: 'critical', since: 125 * minute } };
    expect(word(elapse(both, timing, 130 * minute))).toBe('firing warning rising critical: steadied');
  });

  test('that calms with good readings that lasted resolves at once', () => {
    const good: Alert = { ...flapping, recoveringSince: 95 * minute };
    expect(word(elapse(good, timing, 130 * minute))).toBe('inactive warning: resolved');
  });

  test('moved along in time behaves as before', () => {
    const shiftMs = -1_000 * minute;
    for (const [name, alert] of Object.entries(states)) {
      const at = elapsesAt(alert, timing);
      expect(elapsesAt(shiftAlert(alert, shiftMs), timing), name).toBe(at === null ? null : at + shiftMs);
    }
  });
});

/** What a history does to an alert: at each step a reading, or time that passes, in the order of the daemon. */
interface Step {
  readonly afterMs: number;
  readonly event: Severity | 'ok' | 'unknown' | 'time';
}

const someTiming = fc.record({
  forMs: fc.constantFrom(0, 3, 10).map((minutes) => minutes * minute),
  recoverForMs: fc.constantFrom(0, 3, 10).map((minutes) => minutes * minute),
  flapWindowMs: fc.constantFrom(0, 50).map((minutes) => minutes * minute),
});

const someSteps = fc.array(
  fc.record({
    afterMs: fc.integer({ min: 0, max: 12 }).map((minutes) => minutes * minute),
    event: fc.constantFrom<Step['event']>(...severities, 'ok', 'ok', 'unknown', 'time'),
  }),
  { maxLength: 60 },
);

interface Seen extends Transition {
  readonly at: number;
  readonly event: Step['event'];
  /** The last reading, and since when readings have been as good or as bad. */
  readonly last: Severity | 'ok';
  readonly since: number;
}

/** Every state that a history leads through; time alone acts at the instants that `elapsesAt` names. */
function live(steps: readonly Step[], its: AlertTiming): Seen[] {
  const seen: Seen[] = [];
  let alert = base;
  let read: Pick<Seen, 'last' | 'since'> = { last: 'ok', since: 0 };
  let at = 0;
  const take = (next: Transition, event: Step['event']) => {
    alert = next.alert;
    seen.push({ ...next, ...read, at, event });
  };
  for (const { afterMs, event } of steps) {
    const until = at + afterMs;
    for (let due = elapsesAt(alert, its); due !== null && due <= until; due = elapsesAt(alert, its)) {
      at = Math.max(at, due);
      take(elapse(alert, its, at), 'time');
    }
    at = until;
    if (event !== 'time' && event !== 'unknown') {
      read = { last: event, since: (event === 'ok') === (read.last === 'ok') ? read.since : at };
    }
    take(event === 'time' ? elapse(alert, its, at) : transition(alert, evaluationOf(event), its, at), event);
  }
  return seen;
}

function evaluationOf(event: Severity | 'ok' | 'unknown'): Evaluation {
  if (event === 'unknown') return unknown;
  return event === 'ok' ? ok : breach(event);
}

function isRise(change: Transition['change']): boolean {
  return change === 'fired' || change === 'rose';
}

describe('for any history', () => {
  test('time alone never asks to be woken for nothing', () => {
    fc.assert(
      fc.property(someSteps, someTiming, (steps, its) => {
        for (const { alert, at } of live(steps, its)) {
          const due = elapsesAt(alert, its);
          if (due === null) continue;
          const next = elapse(alert, its, Math.max(at, due));
          expect(next.change).not.toBe('none');
          expect(elapsesAt(next.alert, its) ?? Number.POSITIVE_INFINITY).toBeGreaterThan(Math.max(at, due));
        }
      }),
    );
  });

  test('a resolved comes only after a fired, and no two incidents are open at once', () => {
    fc.assert(
      fc.property(someSteps, someTiming, (steps, its) => {
        let open = false;
        for (const { alert, change } of live(steps, its)) {
          if (change === 'fired') expect(open).toBe(false);
          if (change === 'resolved') expect(open).toBe(true);
          if (change === 'fired') open = true;
          if (change === 'resolved') open = false;
          expect(alert.state === 'firing').toBe(open);
        }
      }),
    );
  });

  test('no change without a cause: only a breach fires or rises, only a good reading resolves', () => {
    fc.assert(
      fc.property(someSteps, someTiming, (steps, its) => {
        for (const { alert, change, event, last } of live(steps, its)) {
          if (isRise(change)) expect(alert.severity).toBe(last);
          if (change === 'resolved' || change === 'withdrawn') expect(last).toBe('ok');
          if (event === 'unknown') expect(change).toBe('none');
        }
      }),
    );
  });

  test('`none` changes nothing but the numbers, so that a restart loses nothing', () => {
    fc.assert(
      fc.property(someSteps, someTiming, (steps, its) => {
        let before = base;
        for (const { alert, change } of live(steps, its)) {
          const { value, threshold, facts, ...kept } = alert;
          if (change === 'none')
            expect(kept).toEqual({ ...before, value: undefined, threshold: undefined, facts: undefined });
          before = alert;
        }
      }),
    );
  });

  test('`for` and `recoverFor` are kept', () => {
    fc.assert(
      fc.property(someSteps, someTiming, (steps, its) => {
        for (const { change, at, since } of live(steps, its)) {
          if (change === 'fired') expect(at - since).toBeGreaterThanOrEqual(its.forMs);
          if (change === 'resolved') expect(at - since).toBeGreaterThanOrEqual(its.recoverForMs);
        }
      }),
    );
  });
});

/**
 * Polling never looks at exactly even instants. That must not decide what people hear, as long as the history
 * itself is not on the edge: each level of the balance lasts for more than two polls, and `for` and
 * `recoverFor` are not within a poll and its jitter of how long a level lasts.
 */
describe('the same history with every poll up to 10 % early or late', () => {
  const interval = 5 * minute;
  const its: AlertTiming = { forMs: 4 * interval, recoverForMs: 4 * interval, flapWindowMs: 10 * interval };
  const levels = fc.array(
    fc.record({
      level: fc.constantFrom<Severity | 'ok'>(...severities, 'ok', 'ok'),
      // Either well below `for` or well above.
      lastsMs: fc.oneof(
        fc.integer({ min: 2.6 * interval, max: 2.8 * interval }),
        fc.integer({ min: 5.2 * interval, max: 9 * interval }),
      ),
    }),
    { minLength: 1, maxLength: 25 },
  );

  test.each([
    ['at once', { ...its, forMs: 0, recoverForMs: 0 }],
    ['with `for`', { ...its, recoverForMs: 0 }],
    ['with `recoverFor`', { ...its, forMs: 0 }],
  ])('gives the same incidents, %s', (_, timed) => {
    fc.assert(
      fc.property(
        levels,
        fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 100, maxLength: 100 }),
        (history, jitter) => {
          const merged = mergeEqual(history);
          fc.pre(merged.every(({ lastsMs }) => lastsMs < 2.9 * interval || lastsMs > 5.1 * interval));
          const even = incidentsOf(merged, timed, () => 0);
          const uneven = incidentsOf(merged, timed, (poll) => (jitter[poll % 100] ?? 0) * 0.1 * interval);
          expect(uneven).toEqual(even);
        },
      ),
      { numRuns: 200 },
    );
  });

  interface Level {
    readonly level: Severity | 'ok';
    readonly lastsMs: number;
  }

  function mergeEqual(history: readonly Level[]): Level[] {
    const merged: Level[] = [];
    for (const part of history) {
      const last = merged.at(-1);
      if (last?.level === part.level)
        merged[merged.length - 1] = { ...last, lastsMs: last.lastsMs + part.lastsMs };
      else merged.push(part);
    }
    return merged;
  }

  /** The worst severity of each incident, and whether it ended, as polls at `interval` plus a jitter see them. */
  function incidentsOf(
    history: readonly Level[],
    timed: AlertTiming,
    jitterOf: (poll: number) => number,
  ): string[] {
    const polls: Step[] = [];
    const endAt = history.reduce((sum, { lastsMs }) => sum + lastsMs, 0);
    let before = 0;
    for (let poll = 1; poll * interval < endAt - interval; poll++) {
      const at = poll * interval + jitterOf(poll);
      polls.push({ afterMs: at - before, event: levelAt(history, at) });
      before = at;
    }
    // The last level is looked at often enough to decide.
    for (let poll = 0; poll < 20; poll++)
      polls.push({ afterMs: interval, event: history.at(-1)?.level ?? 'ok' });
    return live(polls, timed).flatMap(({ change, alert }) =>
      change === 'fired' || change === 'rose' || change === 'fell' || change === 'resolved'
        ? [`${change} ${alert.severity}`]
        : [],
    );
  }

  function levelAt(history: readonly Level[], at: number): Level['level'] {
    let end = 0;
    for (const { level, lastsMs } of history) {
      end += lastsMs;
      if (at < end) return level;
    }
    return history.at(-1)?.level ?? 'ok';
  }
});
