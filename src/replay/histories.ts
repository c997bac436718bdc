import type { StoreReader } from '../domain/ports.ts';
import type { Reading } from '../domain/reading.ts';
import type { AccountSettings, Settings } from '../domain/settings.ts';
import { longestWindow } from '../rules/longest-window.ts';
import { rulesForAccount } from '../rules/rules-for-account.ts';
import { reloadLogSince } from '../spending/reading-log.ts';
import { HistoryFileError } from './history-csv.ts';
import type { AccountHistory } from './history-replay.ts';

interface Frame {
  readonly settings: Settings;
  /** Inclusive; null begins with the first reading. */
  readonly since: number | null;
  readonly now: number;
}

/**
 * The stored past of an account. Failed polls are stored too, so a time without any is one in which lowwater
 * was not running.
 */
export function storedHistory(
  reader: StoreReader,
  account: AccountSettings,
  { settings, since, now }: Frame,
): AccountHistory {
  const from = since ?? 0;
  const windowMs = longestWindow(rulesForAccount(settings, account));
  const warmFrom = reloadLogSince({ windowMs, now: from });
  const earlier = since === null ? null : reader.readingBefore(account.id, warmFrom);
  const recent = reader.readings({ account: account.id, since: warmFrom, until: from });
  return {
    account,
    before: [...(earlier === null ? [] : [earlier]), ...recent],
    polls: [...reader.polls({ account: account.id, since: from, until: now + 1 })],
    gaps: 'unwatched',
    until: now,
  };
}

/** The past of an account from a list of readings, oldest first. Where readings are missing, nobody could read it. */
export function givenHistory(
  account: AccountSettings,
  readings: readonly Reading[],
  { since }: Frame,
): AccountHistory {
  const from = since ?? Number.NEGATIVE_INFINITY;
  const replayed = readings.filter(({ at }) => at >= from);
  return {
    account,
    before: readings.filter(({ at }) => at < from),
    polls: replayed.map((reading) => ({ at: reading.at, outcome: 'ok', reading })),
    gaps: 'unread',
    until: replayed.at(-1)?.at ?? 0,
  };
}

/**
 * Which configured account each list of readings belongs to. `chosen` is the account that a person named: the
 * one that a file without accounts is about, or the only one that is wanted of a file with them.
 *
 * Throws `HistoryFileError` for readings that are no configured account's, or cannot be told to be one's.
 */
export function assignReadings(
  readings: ReadonlyMap<string, readonly Reading[]>,
  accounts: readonly AccountSettings[],
  chosen: AccountSettings | null,
): { readonly account: AccountSettings; readonly readings: readonly Reading[] }[] {
  const nameless = readings.get('');
  if (nameless !== undefined) {
    const account = chosen ?? (accounts.length === 1 ? accounts[0] : undefined);
    if (account !== undefined) return [{ account, readings: nameless }];
    throw new HistoryFileError(
      `the file names no accounts and the configuration has ${accounts.length}: say whose it is with --account (${listNames(accounts.map(({ id }) => id))})`,
    );
  }
  const unknown = [...readings.keys()].filter((id) => !accounts.some((account) => account.id === id));
  if (chosen === null && unknown.length > 0) {
    throw new HistoryFileError(
      `the file has readings of ${listNames(unknown.map((id) => JSON.stringify(id.slice(0, 70))))}, the configuration only of ${listNames(accounts.map(({ id }) => id))}`,
    );
  }
  if (chosen !== null && readings.size > 0 && !readings.has(chosen.id)) {
    throw new HistoryFileError(
      `the file has no readings of ${chosen.id}, only of ${listNames([...readings.keys()].map((id) => JSON.stringify(id.slice(0, 70))))}`,
    );
  }
  const wanted = chosen === null ? accounts : [chosen];
  return wanted.flatMap((account) => {
    const its = readings.get(account.id);
    return its === undefined ? [] : [{ account, readings: its }];
  });
}

const mostNames = 10;

function listNames(names: readonly string[]): string {
  const shown = names.slice(0, mostNames).join(', ');
  return names.length > mostNames ? `${shown} and ${names.length - mostNames} more` : shown;
}
