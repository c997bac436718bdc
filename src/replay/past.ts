import { type AccountState, hasBalances, type PollRecord } from '../domain/reading.ts';
import type { AccountSettings } from '../domain/settings.ts';
import { pollInterval } from '../engine/poll-gaps.ts';
import type { Calendar } from '../ports/clock.ts';
import type { StoreReader } from '../ports/store.ts';

/**
 * The meaning of a long pause between two polls. `unread`: nobody could read the account (all that a list of
 * readings can say); `unwatched`: lowwater was not running, because it would have stored the polls that
 * failed.
 */
export type GapReading = 'unread' | 'unwatched';

/** The past of one account. Nothing of it is held in memory: it is read through, twice. */
export interface AccountPast {
  readonly account: AccountSettings;
  /** The provider's last facts besides the balances, such as its credit limit: polls are stored without them, so they count as true all along. */
  readonly facts?: AccountState['facts'];
  /** The polls to be judged, oldest first, many at a time; two may share an instant. Each call reads them again. */
  polls(): AsyncIterable<readonly PollRecord[]>;
  /** Readings from before, which rules look back on. */
  readonly before: Pick<StoreReader, 'readings' | 'readingBefore'>;
  readonly gaps: GapReading;
  /** Until when the account was watched at most; null: until its last poll. */
  readonly until: number | null;
}

/** An account with at least one poll, and what one look at its past tells. */
export interface SurveyedPast extends AccountPast {
  readonly count: number;
  /** The number of polls that brought a reading, and when the last one did; null when none did. */
  readonly readCount: number;
  readonly lastReadAt: number | null;
  readonly firstAt: number;
  readonly lastAt: number;
  /** The median of the pauses between its polls; null for fewer than three polls. */
  readonly usualPauseMs: number | null;
}

/** Looks through the polls of an account; null when it has none. */
export async function surveyPast(past: AccountPast): Promise<SurveyedPast | null> {
  const survey = createSurvey(past);
  for await (const part of past.polls()) for (const poll of part) survey.take(poll);
  return survey.finish();
}

/** Pauses that are longer than the interval by less than this factor are late polls. */
const lateFactor = 1.5;

/** The account's own interval, or that of its past if it is clearly longer: hourly exports are no series of gaps. */
export function usualInterval({ account, firstAt, usualPauseMs }: SurveyedPast, calendar: Calendar): number {
  const plannedMs = pollInterval(calendar, account.poll, firstAt);
  return usualPauseMs !== null && usualPauseMs > lateFactor * plannedMs ? usualPauseMs : plannedMs;
}

/** More pauses than these tell no more about the usual one. */
const maxPauses = 4096;

/** One look through the polls of an account, some at a time. */
export function createSurvey(past: AccountPast) {
  let count = 0;
  let readCount = 0;
  let lastReadAt: number | null = null;
  let firstAt = 0;
  let lastAt = 0;
  /** Whether the last poll brought a reading. After a failure comes a retry, or a backoff: neither is a usual pause. */
  let isLastRead = false;
  /** Every `stride`-th pause, so that a past of any length leaves as many. */
  const pauses = new Float64Array(maxPauses);
  let kept = 0;
  let stride = 1;

  function keep(pauseMs: number): void {
    if (kept === maxPauses) {
      for (let index = 1; index < maxPauses / 2; index++) pauses[index] = pauses[2 * index] ?? 0;
      kept /= 2;
      stride *= 2;
      if (count % stride !== 0) return;
    }
    pauses[kept++] = pauseMs;
  }

  return {
    take({ at, outcome }: PollRecord): void {
      // Between two lines of one instant, as in exports that overlap, there is no pause.
      const pauseMs = isLastRead ? at - lastAt : 0;
      if (count === 0) firstAt = at;
      else if (pauseMs > 0 && count % stride === 0) keep(pauseMs);
      count++;
      lastAt = at;
      isLastRead = outcome === 'ok';
      if (!isLastRead) return;
      readCount++;
      lastReadAt = at;
    },
    /** Null for an account without any poll. */
    finish(): SurveyedPast | null {
      if (count === 0) return null;
      const sorted = pauses.subarray(0, kept).sort();
      const usualPauseMs = count < 3 ? null : (sorted[sorted.length >> 1] ?? null);
      return { ...past, count, readCount, lastReadAt, firstAt, lastAt, usualPauseMs };
    },
  };
}

/** The stored past from `since` (null: the first poll) to `now`. Failed polls are stored too: in a time without any, lowwater was not running. */
export function storedPast(
  reader: StoreReader,
  account: AccountSettings,
  order: Pick<AccountPast, 'facts'> & { readonly since: number | null; readonly now: number },
): AccountPast {
  const { since, now, facts } = order;
  const from = since ?? Number.MIN_SAFE_INTEGER;
  return {
    account,
    facts,
    polls: () =>
      ofItsBalances(
        account,
        reader.polls({ account: account.id, since: from, until: now + 1, timesOnce: true }),
      ),
    before: {
      readings: (query) =>
        reader.readings({ ...query, until: Math.min(query.until, from), timesOnce: query.asStored !== true }),
      readingBefore: async (id, at) => {
        const reading = await reader.readingBefore(id, Math.min(at, from));
        return reading !== null && hasBalances(reading, account.balances) ? reading : null;
      },
    },
    gaps: 'unwatched',
    until: now,
  };
}

/** Leaves out the polls of a time in which it was an account of another provider, with other balances. */
async function* ofItsBalances(
  account: AccountSettings,
  parts: AsyncIterable<readonly PollRecord[]>,
): AsyncGenerator<readonly PollRecord[]> {
  for await (const part of parts)
    yield part.filter(({ reading }) => reading === null || hasBalances(reading, account.balances));
}
