import type { Settings } from '../domain/settings.ts';
import type { Calendar } from '../ports/clock.ts';
import { type AccountPast, createSurvey, type SurveyedPast } from './past.ts';
import { beginEngine, type ReplayObserver, type ReplayResult } from './replay-engine.ts';

export interface ReplayDependencies {
  readonly settings: Settings;
  readonly calendar: Calendar;
  readonly pasts: readonly AccountPast[];
  readonly observer?: ReplayObserver;
}

export type Replay = ReturnType<typeof createReplay>;

/** Work in slices, which yields when a slice is over. */
type Slices<Result> = AsyncGenerator<undefined, Result>;

/**
 * The past of all accounts, judged by the engine of the daemon as if it came in now: in the order of time, with what
 * time brings at its own instants between the polls, with silences, inhibition and outages of a provider. Every message is
 * delivered at once, nobody acknowledges anything, nothing is written.
 *
 * It goes on in slices of as many polls as the caller asks for, so that other work has its turn. Of the past
 * only what the engine itself looks back on is in memory.
 */
export function createReplay({ settings, calendar, pasts, observer = {} }: ReplayDependencies) {
  let left = 0;
  let done = 0;
  let total = 0;
  let result: ReplayResult | null = null;
  const isSliceOver = (polls: number): boolean => {
    left -= polls;
    return left <= 0;
  };

  async function* run(): Slices<ReplayResult> {
    const surveyed = yield* survey(pasts, isSliceOver);
    total = surveyed.reduce((sum, { count }) => sum + count, 0);
    observer.begins?.(surveyed);
    if (surveyed.length === 0) return nothing;
    const { streams, step, result } = await beginEngine({ settings, calendar, pasts: surveyed, observer });
    for (let next = streams.first; next !== null; next = streams.first) {
      if (!next.ready) await next.fill();
      done += step(next);
      if (isSliceOver(1)) yield;
    }
    return result();
  }

  const work = run();
  return {
    /** The share of the polls that was judged, from 0 to 1. */
    get progress(): number {
      return total === 0 ? 0 : done / total;
    },
    /** Goes on by this many polls. Null until the past is over, then the result. */
    async advance(polls: number): Promise<ReplayResult | null> {
      left = polls;
      if (result === null) {
        const step = await work.next();
        if (step.done === true) result = step.value;
      }
      return result;
    },
  };
}

async function* survey(
  pasts: readonly AccountPast[],
  isSliceOver: (polls: number) => boolean,
): Slices<readonly SurveyedPast[]> {
  const surveyed: SurveyedPast[] = [];
  for (const past of pasts) {
    const looking = createSurvey(past);
    for await (const part of past.polls()) {
      for (const poll of part) looking.take(poll);
      if (isSliceOver(part.length)) yield;
    }
    const found = looking.finish();
    if (found !== null) surveyed.push(found);
  }
  return surveyed;
}

const nothing: ReplayResult = {
  incidents: [],
  messages: { total: 0, byChannel: new Map(), byWeek: [] },
  accounts: [],
  since: 0,
  until: 0,
};
