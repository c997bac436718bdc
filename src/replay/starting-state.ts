import type { AccountState, Calendar, StoreReader } from '../domain/ports.ts';
import type { AccountSettings } from '../domain/settings.ts';
import { aliveNote } from '../engine/restore.ts';
import { emptyReader } from '../views/empty-reader.ts';
import { type SurveyedPast, usualInterval } from './past.ts';

/**
 * What a daemon that starts where the past begins would find stored: the readings from before, of which nothing has
 * been told yet. An account that was first polled later is watched from then on.
 */
export function startingReader(pasts: readonly SurveyedPast[], startAt: number): StoreReader {
  const byId = new Map(pasts.map((past) => [past.account.id, past]));
  return {
    ...emptyReader,
    load: () => ({
      ...emptyReader.load(),
      accounts: pasts.map(stateBefore),
      notes: { [aliveNote]: String(startAt) },
    }),
    readings: (query) => byId.get(query.account)?.before.readings(query) ?? [],
    readingBefore: (account, at) => byId.get(account)?.before.readingBefore(account, at) ?? null,
  };
}

/** An account as it is polled in the replay: less often where its past says so (`usualInterval`). */
export function withUsualPolls(past: SurveyedPast, calendar: Calendar): AccountSettings {
  const { account } = past;
  const { poll } = account;
  return poll.kind === 'every'
    ? { ...account, poll: { kind: 'every', everyMs: usualInterval(past, calendar) } }
    : account;
}

function stateBefore({ account, before, firstAt }: SurveyedPast): AccountState {
  const reading = before.readingBefore(account.id, firstAt);
  return {
    account: account.id,
    firstSeenAt: firstAt,
    polledAt: reading?.at ?? null,
    outcome: reading === null ? null : 'ok',
    failure: null,
    failureCode: null,
    consecutiveFailures: 0,
    reading,
    previous: null,
    changedAt: null,
    unwatchedMs: reading === null ? 0 : firstAt - reading.at,
    usage: {},
    retryAt: null,
  };
}
