import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DueQueue } from '../../src/engine/due-queue.ts';

describe('the due queue', () => {
  it('gives keys soonest first, and none before it is due', () => {
    const queue = new DueQueue<string>();
    queue.set('late', 30);
    queue.set('soon', 10);
    queue.set('later', 40);
    expect(queue.nextAt).toBe(10);
    expect(queue.takeDue(9)).toBeUndefined();
    expect([queue.takeDue(30), queue.takeDue(30), queue.takeDue(30)]).toEqual(['soon', 'late', undefined]);
    expect(queue.dueAt('later')).toBe(40);
  });

  it('moves a key that is set again', () => {
    const queue = new DueQueue<string>();
    queue.set('a', 10);
    queue.set('b', 20);
    queue.set('a', 30);
    expect(queue.dueAt('a')).toBe(30);
    expect(queue.nextAt).toBe(20);
  });

  it('has nothing due when it is empty', () => {
    const queue = new DueQueue<string>();
    queue.delete('unknown');
    expect(queue.nextAt).toBe(Number.POSITIVE_INFINITY);
    expect(queue.dueAt('unknown')).toBeNull();
    expect(queue.takeDue(Number.MAX_SAFE_INTEGER)).toBeUndefined();
  });

  it('moves every instant by a jump of the clock', () => {
    const queue = new DueQueue<string>();
    queue.set('a', 10);
    queue.set('b', 20);
    queue.shift(-5);
    expect([queue.dueAt('a'), queue.dueAt('b')]).toEqual([5, 15]);
  });

  it('agrees with a plain map, for any order of set, move, delete and take', () => {
    const key = fc.integer({ min: 0, max: 12 });
    const at = fc.integer({ min: 0, max: 50 });
    const step = fc.oneof(
      fc.record({ kind: fc.constant('set' as const), key, at }),
      fc.record({ kind: fc.constant('delete' as const), key }),
      fc.record({ kind: fc.constant('take' as const), at }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const queue = new DueQueue<number>();
        const model = new Map<number, number>();
        for (const each of steps) {
          if (each.kind === 'take') takeFromBoth(queue, model, each.at);
          else changeBoth(queue, model, each);
          expect(queue.nextAt).toBe(Math.min(...model.values()));
          for (const [known, due] of model) expect(queue.dueAt(known)).toBe(due);
        }
      }),
    );
  });
});

function changeBoth(
  queue: DueQueue<number>,
  model: Map<number, number>,
  change: { kind: 'set'; key: number; at: number } | { kind: 'delete'; key: number },
): void {
  if (change.kind === 'set') {
    queue.set(change.key, change.at);
    model.set(change.key, change.at);
    return;
  }
  queue.delete(change.key);
  model.delete(change.key);
}

function takeFromBoth(queue: DueQueue<number>, model: Map<number, number>, now: number): void {
  const soonest = Math.min(...model.values());
  const taken = queue.takeDue(now);
  if (taken === undefined) {
    expect(soonest).toBeGreaterThan(now);
    return;
  }
  expect(model.get(taken)).toBe(soonest);
  expect(soonest).toBeLessThanOrEqual(now);
  model.delete(taken);
}
