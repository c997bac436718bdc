import type { Reading } from '../../domain/reading.ts';
import type { AccountSettings } from '../../domain/settings.ts';
import type { AccountHistory } from '../../replay/history-replay.ts';
import { thin } from '../../spending/thin.ts';

/** More points than a terminal has dots. */
const chartPoints = 2000;

/** What is kept of a history after its replay: enough to draw it. */
export interface AccountTrace {
  readonly account: AccountSettings;
  readonly since: number;
  readonly until: number;
  readonly polls: number;
  /** Thinned, oldest first. */
  readonly readings: readonly Reading[];
  /** The currency that the account was read in at an instant; the configured one before any reading. */
  currencyAt(at: number): string | null;
}

/** The trace of a history with at least one poll. */
export function traceOf({ account, polls, until }: AccountHistory): AccountTrace {
  const readings = polls.flatMap(({ reading }) => reading ?? []);
  const changes = readings.filter(({ currency }, index) => currency !== readings[index - 1]?.currency);
  const since = polls[0]?.at ?? until;
  return {
    account,
    since,
    until: Math.max(since, polls.at(-1)?.at ?? until),
    polls: polls.length,
    readings: thin(readings, chartPoints),
    currencyAt: (at) => changes.findLast((change) => change.at <= at)?.currency ?? account.currency,
  };
}
