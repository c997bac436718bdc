import type { AccountSettings } from '../domain/settings.ts';
import type { StoreReader } from '../ports/store.ts';
import type { AccountPast } from './past.ts';

/**
 * The stored past of an account from `since` (null: from the first poll) to `now`. Failed polls are stored too, so a time
 * without any is one in which lowwater was not running.
 */
export function storedPast(
  reader: StoreReader,
  account: AccountSettings,
  { since, now }: { readonly since: number | null; readonly now: number },
): AccountPast {
  const from = since ?? Number.MIN_SAFE_INTEGER;
  return {
    account,
    polls: () => reader.polls({ account: account.id, since: from, until: now + 1 }),
    before: {
      readings: (query) => reader.readings({ ...query, until: Math.min(query.until, from) }),
      readingBefore: (id, at) => reader.readingBefore(id, Math.min(at, from)),
    },
    gaps: 'unwatched',
    until: now,
  };
}
