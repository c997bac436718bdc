import type { Clock } from '../../src/ports/clock.ts';

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly fire: () => void;
}

/** A clock that a test moves. Timers fire in order; what they start with promises finishes before the next one. */
export class FakeClock implements Clock {
  #wall: number;
  #monotonic = 0;
  #order = 0;
  readonly #timers = new Set<Timer>();

  constructor(startAt: number) {
    this.#wall = startAt;
  }

  now(): number {
    return this.#wall;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  setTimer(delayMs: number, fire: () => void): () => void {
    const timer = { at: this.#monotonic + delayMs, order: this.#order++, fire };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Lets so much time pass, firing every timer at its instant. */
  async pass(ms: number): Promise<void> {
    const until = this.#monotonic + ms;
    await settle();
    for (let timer = this.#nextBy(until); timer !== undefined; timer = this.#nextBy(until)) {
      this.#moveTo(Math.max(this.#monotonic, timer.at));
      this.#timers.delete(timer);
      timer.fire();
      await settle();
    }
    this.#moveTo(until);
  }

  /** The wall clock is set, or the machine was suspended: monotonic time stands still meanwhile. */
  jump(ms: number): void {
    this.#wall += ms;
  }

  /** The process gets no time although both clocks go on: a paused container, a blocked event loop. */
  freeze(ms: number): void {
    this.#moveTo(this.#monotonic + ms);
  }

  /** Forgets every timer, as the death of the process does. */
  dropTimers(): void {
    this.#timers.clear();
  }

  #nextBy(until: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.at > until) continue;
      if (next === undefined || timer.at < next.at || (timer.at === next.at && timer.order < next.order))
        next = timer;
    }
    return next;
  }

  #moveTo(monotonic: number): void {
    this.#wall += monotonic - this.#monotonic;
    this.#monotonic = monotonic;
  }
}

/** Every promise that can go on has gone on: what a promise asks of the next tick waits until no microtask is left. */
async function settle(): Promise<void> {
  await null;
  await new Promise<void>((resolve) => process.nextTick(resolve));
}
