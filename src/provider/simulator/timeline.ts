import type { Scenario, ScenarioEvent } from './scenario.ts';

/** A point of the script at which something begins or ends. */
export interface TimelineStep {
  /** Milliseconds since the start, in the scenario's time. */
  readonly at: number;
  readonly phase: 'begin' | 'end';
  readonly event: ScenarioEvent;
}

/** The scenario's events in the order of time. Nothing runs by itself: whoever asks gets what came due meanwhile. */
export class Timeline {
  readonly #steps: TimelineStep[] = [];

  constructor(scenario: Scenario) {
    for (const event of scenario.events) this.#insert({ at: event.at, phase: 'begin', event });
  }

  /** Takes the next step that is due at `elapsedMs`; null when there is none (more). */
  takeDue(elapsedMs: number): TimelineStep | null {
    const [next] = this.#steps;
    if (next === undefined || next.at > elapsedMs) return null;
    this.#steps.shift();
    this.#follow(next);
    return next;
  }

  /** What a step leads to: the end of what lasts, the next time of what repeats. */
  #follow({ at, phase, event }: TimelineStep): void {
    if (phase === 'end') return;
    if ('for' in event) this.#insert({ at: at + event.for, phase: 'end', event });
    if (event.every !== undefined) this.#insert({ at: at + event.every, phase: 'begin', event });
  }

  #insert(step: TimelineStep): void {
    const place = this.#steps.findIndex((other) => other.at > step.at);
    this.#steps.splice(place === -1 ? this.#steps.length : place, 0, step);
  }
}
