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
  /** The provider's last facts besides the balances, such as its credit limit: polls are stored without, so they count as true all along. */
  readonly facts?: AccountState['facts'];
  /** The polls to be judged, oldest first, many at a time; two may share an instant. Each call reads them again. */
  polls(): AsyncIterable<readonly PollRecord[]>;
  /** Readings from before, which rules look back on. */
  readonly before: Pick<StoreReader, 'readings' | 'readingBefore'>;
  readonly gaps: GapReading;
  /** The longest time that the account was watched; null: until its last poll. */
  readonly until: number | null;
}

/** An account with at least one poll, and what one look at its past tells. */
export interface SurveyedPast extends AccountPast {
  readonly count: number;
  /** The number of them that brought a reading, and when the last one did; null when none did. */
  readonly readCount: number;
  readonly lastReadAt: number | null;
  readonly firstAt: number;
  readonly lastAt: number;
  /** The middle one of the pauses between its polls; null of fewer than three polls. */
  readonly usualPauseMs: number | null;
}

/** Looks through the polls of an account; null when it has none. */
export async function surveyPast(past: AccountPast): Promise<SurveyedPast | null> {
  const survey = new Survey();
  for await (const part of past.polls()) for (const poll of part) survey.take(poll);
  return survey.finish(past);
}

/** Pauses that are longer than the interval by less than this are late polls. */
const lateFactor = 1.5;

/** The account's own, or its past's where clearly longer: hourly exports are no series of gaps. */
export function usualInterval({ account, firstAt, usualPauseMs }: SurveyedPast, calendar: Calendar): number {
  const plannedMs = pollInterval(calendar, account.poll, firstAt);
  return usualPauseMs !== null && usualPauseMs > lateFactor * plannedMs ? usualPauseMs : plannedMs;
}

/** More pauses than these tell no more about the usual one. */
const maxPauses = 4096;

/** One look through the polls of an account, some at a time. */
export class Survey {
  #count = 0;
  /** After a failure comes a retry, or a backoff: neither is usual. */
  #lastRead = false;
  #firstAt = 0;
  #lastAt = 0;
  #readCount = 0;
  #lastReadAt: number | null = null;
  /** Every `#stride`-th pause, so that a past of any length leaves as many. */
  #pauses = new Float64Array(maxPauses);
  #kept = 0;
  #stride = 1;

  take({ at, outcome }: PollRecord): void {
    // Between two lines of one instant, as in exports that overlap, there is no pause.
    const pauseMs = this.#lastRead ? at - this.#lastAt : 0;
    if (this.#count === 0) this.#firstAt = at;
    else if (pauseMs > 0 && this.#count % this.#stride === 0) this.#keep(pauseMs);
    this.#count++;
    this.#lastAt = at;
    this.#lastRead = outcome === 'ok';
    if (!this.#lastRead) return;
    this.#readCount++;
    this.#lastReadAt = at;
  }

  /** Null for an account without any poll. */
  finish(past: AccountPast): SurveyedPast | null {
    if (this.#count === 0) return null;
    const pauses = this.#pauses.subarray(0, this.#kept).sort();
    return {
      ...past,
      count: this.#count,
      readCount: this.#readCount,
      lastReadAt: this.#lastReadAt,
      firstAt: this.#firstAt,
      lastAt: this.#lastAt,
      usualPauseMs: this.#count < 3 ? null : (pauses[pauses.length >> 1] ?? null),
    };
  }

  #keep(pauseMs: number): void {
    if (this.#kept === maxPauses) {
      for (let index = 1; index < maxPauses / 2; index++) this.#pauses[index] = this.#pauses[2 * index] ?? 0;
      this.#kept /= 2;
      this.#stride *= 2;
      if (this.#count % this.#stride !== 0) return;
    }
    this.#pauses[this.#kept++] = pauseMs;
  }
}

/** From `since` (null: the first poll) to `now`. Failed polls are stored too: without any, lowwater was not running. */
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
    polls: () => ofItsBalances(account, reader.polls({ account: account.id, since: from, until: now + 1 })),
    before: {
      readings: (query) => reader.readings({ ...query, until: Math.min(query.until, from) }),
      readingBefore: async (id, at) => {
        const reading = await reader.readingBefore(id, Math.min(at, from));
        return reading !== null && hasBalances(reading, account.balances) ? reading : null;
      },
    },
    gaps: 'unwatched',
    until: now,
  };
}

/** Without the polls of a time in which it was an account of another provider, with other balances. */
async function* ofItsBalances(
  account: AccountSettings,
  parts: AsyncIterable<readonly PollRecord[]>,
): AsyncGenerator<readonly PollRecord[]> {
  for await (const part of parts)
    yield part.filter(({ reading }) => reading === null || hasBalances(reading, account.balances));
}
