import type { Settings } from '../domain/settings.ts';
import type { Calendar } from '../ports/clock.ts';
import { type AccountPast, Survey, type SurveyedPast } from './past.ts';
import { ReplayEngine, type ReplayObserver, type ReplayResult } from './replay-engine.ts';

export interface ReplayDependencies {
  readonly settings: Settings;
  readonly calendar: Calendar;
  readonly pasts: readonly AccountPast[];
  readonly observer?: ReplayObserver;
}

/** Work that yields when a slice is over. */
type Slices<Result> = AsyncGenerator<undefined, Result>;

/**
 * The past of all accounts, judged by the engine of the daemon as if it came in now: in the order of time, with what
 * time brings at its own instants between the polls, with silences, inhibition and outages of a provider. Every message is
 * delivered at once, nobody acknowledges anything, nothing is written.
 *
 * It goes on in slices of as many polls as the caller asks for, so that other work has its turn. Of the past
 * only what the engine itself looks back on is in memory.
 */
export class Replay {
  readonly #work: Slices<ReplayResult>;
  #left = 0;
  #done = 0;
  #total = 0;
  #result: ReplayResult | null = null;

  constructor(parts: ReplayDependencies) {
    this.#work = this.#run(parts);
  }

  /** The share of the polls that was judged, from 0 to 1. */
  get progress(): number {
    return this.#total === 0 ? 0 : this.#done / this.#total;
  }

  /** Goes on by so many polls. Null until the past is over, then what came of it. */
  async advance(polls: number): Promise<ReplayResult | null> {
    this.#left = polls;
    if (this.#result === null) {
      const step = await this.#work.next();
      if (step.done === true) this.#result = step.value;
    }
    return this.#result;
  }

  async *#run({ settings, calendar, pasts, observer = {} }: ReplayDependencies): Slices<ReplayResult> {
    const surveyed = yield* this.#survey(pasts);
    this.#total = surveyed.reduce((sum, { count }) => sum + count, 0);
    observer.begins?.(surveyed);
    if (surveyed.length === 0) return nothing;
    const life = await ReplayEngine.begin({ settings, calendar, pasts: surveyed, observer });
    for (;;) {
      if (!life.ready) await life.readOn();
      const polls = life.step();
      if (polls === null) break;
      this.#done += polls;
      if (this.#isSliceOver(1)) yield;
    }
    return life.result();
  }

  async *#survey(pasts: readonly AccountPast[]): Slices<readonly SurveyedPast[]> {
    const surveyed: SurveyedPast[] = [];
    for (const past of pasts) {
      const survey = new Survey();
      for await (const part of past.polls()) {
        for (const poll of part) survey.take(poll);
        if (this.#isSliceOver(part.length)) yield;
      }
      const found = survey.finish(past);
      if (found !== null) surveyed.push(found);
    }
    return surveyed;
  }

  #isSliceOver(polls: number): boolean {
    this.#left -= polls;
    return this.#left <= 0;
  }
}

const nothing: ReplayResult = {
  incidents: [],
  messages: { total: 0, byChannel: new Map(), byWeek: [] },
  accounts: [],
  since: 0,
  until: 0,
};
