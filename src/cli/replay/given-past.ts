import type { Reading } from '../../domain/reading.ts';
import type { AccountSettings } from '../../domain/settings.ts';
import type { AccountPast } from '../../replay/past.ts';
import type { PackedPolls } from '../../store/runs/packed-polls.ts';
import { listFirst } from '../../wording/lists.ts';
import { HistoryFileError } from './read-csv.ts';

/** The past from `since` on (null: from the first reading). Missing readings count as polls that could not read the account. */
export function givenPast(
  account: AccountSettings,
  readings: PackedPolls,
  { since }: { readonly since: number | null },
): AccountPast {
  const from = since ?? Number.NEGATIVE_INFINITY;
  return {
    account,
    polls: () => asStored(readings.polls(from, Number.POSITIVE_INFINITY)),
    before: {
      readings: (query) => asStored(readingsIn(readings, query.since, Math.min(query.until, from))),
      readingBefore: async (_, at) => {
        let last: Reading | null = null;
        for (const part of readingsIn(readings, Number.NEGATIVE_INFINITY, Math.min(at, from)))
          last = part.at(-1) ?? last;
        return last;
      },
    },
    gaps: 'unread',
    until: null,
  };
}

async function* asStored<Row>(parts: Iterable<readonly Row[]>): AsyncGenerator<readonly Row[]> {
  yield* parts;
}

function* readingsIn(polls: PackedPolls, since: number, until: number): Generator<readonly Reading[]> {
  for (const part of polls.polls(since, until)) yield part.flatMap(({ reading }) => reading ?? []);
}

/** The number of readings with the same instant as the one before them. */
export function countRepeatedInstants(polls: PackedPolls): number {
  if (polls.ascends) return 0;
  let repeated = 0;
  let last = Number.NaN;
  for (const part of polls.polls(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY))
    for (const { at } of part) {
      if (at === last) repeated += 1;
      last = at;
    }
  return repeated;
}

/**
 * Assigns each list of readings to a configured account. `chosen` is the account that a person named: the
 * account of a file without a column for accounts, or the only one to use of a file with that column.
 *
 * Throws `HistoryFileError` for readings that belong to no configured account, or may not belong to one.
 */
export function assignReadings(
  readings: ReadonlyMap<string, PackedPolls>,
  accounts: readonly AccountSettings[],
  chosen: AccountSettings | null,
): { readonly account: AccountSettings; readonly readings: PackedPolls }[] {
  const nameless = readings.get('');
  if (nameless !== undefined) {
    const account = chosen ?? (accounts.length === 1 ? accounts[0] : undefined);
    if (account !== undefined) return [{ account, readings: nameless }];
    throw new HistoryFileError(
      `the file names no accounts and the configuration has ${accounts.length}: say whose it is with --account (${listFirst(accounts.map(({ id }) => id))})`,
    );
  }
  const unknown = [...readings.keys()].filter((id) => !accounts.some((account) => account.id === id));
  if (chosen === null && unknown.length > 0) {
    throw new HistoryFileError(
      `the file has readings of ${listFirst(unknown.map((id) => JSON.stringify(id.slice(0, 70))))}, the configuration only of ${listFirst(accounts.map(({ id }) => id))}`,
    );
  }
  if (chosen !== null && readings.size > 0 && !readings.has(chosen.id)) {
    throw new HistoryFileError(
      `the file has no readings of ${chosen.id}, only of ${listFirst([...readings.keys()].map((id) => JSON.stringify(id.slice(0, 70))))}`,
    );
  }
  const wanted = chosen === null ? accounts : [chosen];
  return wanted.flatMap((account) => {
    const its = readings.get(account.id);
    return its === undefined ? [] : [{ account, readings: its }];
  });
}
