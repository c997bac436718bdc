import type { AccountState, Calendar, StoredState } from '../domain/ports.ts';
import type { AccountSettings } from '../domain/settings.ts';
import { aliveNote } from '../engine/restore.ts';
import { nothingStored } from '../views/empty-reader.ts';
import { type SurveyedPast, usualInterval } from './past.ts';

/**
 * What a daemon that starts where the past begins would find stored: the readings from before, of which nothing has
 * been told yet. An account that was first polled later is watched from then on.
 */
export async function startingState(pasts: readonly SurveyedPast[], startAt: number): Promise<StoredState> {
  const accounts: AccountState[] = [];
  for (const past of pasts) accounts.push(await stateBefore(past));
  return { ...nothingStored, accounts, notes: { [aliveNote]: String(startAt) } };
}

/** An account as it is polled in the replay: less often where its past says so (`usualInterval`). */
export function withUsualPolls(past: SurveyedPast, calendar: Calendar): AccountSettings {
  const { account } = past;
  const { poll } = account;
  return poll.kind === 'every'
    ? { ...account, poll: { kind: 'every', everyMs: usualInterval(past, calendar) } }
    : account;
}

async function stateBefore({ account, before, firstAt }: SurveyedPast): Promise<AccountState> {
  const reading = await before.readingBefore(account.id, firstAt);
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
