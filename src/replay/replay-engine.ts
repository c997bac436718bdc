import { createHistoryLoader } from '../daemon/history-loader.ts';
import { entryOf } from '../domain/provider-entry.ts';
import {
  type AccountState,
  freshAccount,
  type Outcome,
  type PollRecord,
  type Reading,
} from '../domain/reading.ts';
import type { AccountSettings, Settings } from '../domain/settings.ts';
import { isoText } from '../domain/time.ts';
import { changedOnlyReadings, discardChanges } from '../engine/batch.ts';
import { observePoll } from '../engine/observe.ts';
import { aliveNote, skipUnwatched, startMonitor } from '../engine/restore.ts';
import { learnFromHistory } from '../engine/spending.ts';
import { groupOf, type MonitorState, type WatchedAccount } from '../engine/state.ts';
import { endTurn } from '../engine/turn.ts';
import type { Calendar, Random } from '../ports/clock.ts';
import { nothingStored } from '../views/empty-reader.ts';
import { isoOrNull, quantityJson } from '../views/public-object.ts';
import { createIncidentBook, type ReplayedIncident } from './incident-book.ts';
import { createMessageCounter, type MessageCount } from './message-counter.ts';
import { type AccountPast, type SurveyedPast, usualInterval } from './past.ts';
import { mergeStreams, openStream, type PollStream } from './poll-stream.ts';

/** The past as the configuration would have reported it. */
export interface ReplayResult {
  /** In the order in which they fired; those of a provider as a whole are among them. */
  readonly incidents: readonly ReplayedIncident[];
  readonly messages: MessageCount;
  /** The accounts that have a past, in the order given. */
  readonly accounts: readonly SurveyedPast[];
  /** The first poll, and the end of what was watched. Both 0 without any poll. */
  readonly since: number;
  readonly until: number;
}

/** An observer of a replay. */
export interface ReplayObserver {
  /** Called before the first poll is judged. */
  begins?(accounts: readonly SurveyedPast[]): void;
  /** Called when a reading was judged; `account` is as the engine knows it after that. */
  read?(account: WatchedAccount, reading: Reading): void;
}

/** The public JSON of a replay. `severity` is the worst that was reached, `value` what it fired with. */
export function replayJson({ incidents, messages }: ReplayResult) {
  return {
    incidents: incidents.map(({ account, rule, type, severity, firedAt, resolvedAt, value, empty }) => ({
      account,
      rule,
      type,
      severity,
      firedAt: isoText(firedAt),
      resolvedAt: isoOrNull(resolvedAt),
      value: value && quantityJson(value),
      emptyAt: isoOrNull(empty?.at ?? null),
      emptyBy: empty?.how ?? null,
    })),
    messages: messages.total,
  };
}

/** The most turns forgotten together in which nothing but readings changed: more would outlive the space of young objects. */
const quietTurnsAtOnce = 100;

/** The engine as it is where the past begins, with all that is known from before: its state, and the accounts whose polls come in. */
export async function beginEngine({
  settings,
  calendar,
  pasts,
  observer,
}: {
  readonly settings: Settings;
  readonly calendar: Calendar;
  readonly pasts: readonly SurveyedPast[];
  readonly observer: ReplayObserver;
}) {
  const opened: PollStream[] = [];
  for (const [rank, past] of pasts.entries()) {
    const { poll } = past.account;
    const { backoff, polled } = entryOf(settings, past.account);
    const intervalMs = usualInterval(past, calendar);
    opened.push(await openStream(past, { polled, poll, calendar, backoff, intervalMs }, rank));
  }
  const since = Math.min(...pasts.map(({ firstAt }) => firstAt));
  const accounts: AccountState[] = [];
  for (const past of pasts) accounts.push(await stateBefore(past));
  const state = startMonitor({
    settings: { ...settings, accounts: pasts.map((past) => withUsualPolls(past, calendar)) },
    calendar,
    random: countingIds(),
    stored: { ...nothingStored, accounts, notes: { [aliveNote]: String(since) } },
    now: since,
  });
  for (const { account, before } of pasts) await rememberAll(state, account.id, { before, now: since });
  const streams = mergeStreams(opened);
  const messages = createMessageCounter(state, since);
  const book = createIncidentBook(state);
  /** An instant after which no poll comes. */
  const endOfAll = pasts.reduce((latest, { lastAt, until }) => Math.max(latest, lastAt, until ?? 0), 0);
  let watchedUntil = since;
  /** Accounts that are being watched. While there is none, passing time changes nothing. */
  const watched = new Set<string>();
  let quietTurns = 0;

  /** Takes the next step of the first stream. Returns the number of polls in it. */
  function step({ step, past }: PollStream): number {
    const { at } = step;
    const { id } = past.account;
    if ('outcome' in step) {
      streams.advance();
      liveUntil(at);
      watched.add(id);
      observe(id, outcomeOf(step, past.facts), at);
      return 1;
    }
    liveUntil(step.kind === 'end' ? at + 1 : at);
    watchedUntil = Math.max(watchedUntil, at);
    if (step.kind === 'end') leave(id, endOfAll + 1 - at);
    else if (step.kind === 'unread') observe(id, unread, at);
    else if (step.waitMs > 0 && groupWaits(id)) {
      step.at += step.waitMs;
      step.forMs -= step.waitMs;
      step.waitMs = 0;
      streams.moved();
      return 0;
    } else leave(id, step.forMs);
    streams.advance();
    return 0;
  }

  /** From now on nobody watches the account, for `forMs`. */
  function leave(id: string, forMs: number): void {
    skipUnwatched(state, id, forMs);
    watched.delete(id);
  }

  const nextAt = (): number => Math.min(state.due.nextAt, messages.nextAt);

  /** Does what time brings before `at`, each at its own instant. */
  function liveUntil(at: number): void {
    if (watched.size === 0) return;
    for (let next = nextAt(); next < at; next = nextAt()) finishTurn(next);
  }

  function observe(id: string, outcome: Outcome, at: number): void {
    const account = state.accounts.get(id);
    if (account === undefined) throw new Error(`${id} has a past but is not watched`);
    observePoll(state, account, outcome, at);
    if (outcome.kind === 'ok') book.read(account);
    finishTurn(at);
    const { reading } = account.poll;
    if (outcome.kind === 'ok' && reading !== null) observer.read?.(account, reading);
  }

  function finishTurn(now: number): void {
    do {
      endTurn(state, now);
      takeChanges();
    } while (messages.deliverDue(now));
  }

  /** Records the changes as far as people ask for them, and forgets them instead of storing them. */
  function takeChanges(): void {
    if (changedOnlyReadings(state) && ++quietTurns < quietTurnsAtOnce) return;
    quietTurns = 0;
    book.note(discardChanges(state));
  }

  /** Whether the provider asked all accounts that share the secret to wait: the account is then watched, and not polled. */
  function groupWaits(id: string): boolean {
    return (state.backoffs.get(groupOf(state, id))?.strikes ?? 0) > 0;
  }

  return {
    streams,
    step,
    result(): ReplayResult {
      messages.finish();
      const { incidents } = book;
      return { incidents, messages: messages.count, accounts: pasts, since, until: watchedUntil };
    },
  };
}

/** Takes in what rules and forecasts would have known of an account before: its log, and its spending, learned from history. */
async function rememberAll(
  state: MonitorState,
  id: string,
  { before, now }: { readonly before: AccountPast['before']; readonly now: number },
): Promise<void> {
  const account = state.accounts.get(id);
  if (account === undefined) return;
  await createHistoryLoader(state, before, () => now).of(account);
  if (!state.unlearned.has(id)) return;
  const learning = learnFromHistory(state, account, now);
  for await (const part of before.readings(learning.query)) learning.take(part);
  learning.finish();
}

const usage = {};
const unread: Outcome = {
  kind: 'network_error',
  reason: 'no reading is known of that time',
  durationMs: 0,
  usage,
};

function outcomeOf({ outcome, reading }: PollRecord, facts: AccountState['facts']): Outcome {
  if (outcome === 'ok') {
    if (reading === null) throw new Error('a poll that ended ok has a reading');
    return { kind: 'ok', answer: reading, durationMs: 0, usage, facts };
  }
  return { kind: outcome, reason: 'as it is stored', durationMs: 0, usage };
}

/** Nothing of a replay is kept or sent: its ids need to be unique only within it, and its pauses are not random. */
function countingIds(): Random {
  let count = 0;
  return { fraction: () => 0.5, id: () => String(++count), bytes: (length) => Buffer.alloc(length) };
}

/** An account as it is polled in the replay: less often if its past says so (`usualInterval`). */
function withUsualPolls(past: SurveyedPast, calendar: Calendar): AccountSettings {
  const { account } = past;
  const { poll } = account;
  return poll.kind === 'every'
    ? { ...account, poll: { kind: 'every', everyMs: usualInterval(past, calendar) } }
    : account;
}

/** The state before the first poll, with the last reading from before if there is one. An account first polled later is watched from then on. */
async function stateBefore({ account, before, firstAt, facts }: SurveyedPast): Promise<AccountState> {
  const unread = { ...freshAccount(account.id, firstAt), facts };
  const reading = await before.readingBefore(account.id, firstAt);
  return reading === null
    ? unread
    : { ...unread, polledAt: reading.at, outcome: 'ok', reading, unwatchedMs: firstAt - reading.at };
}
