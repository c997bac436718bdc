import type { Outcome } from '../domain/outcome.ts';
import type { Calendar, Random } from '../domain/ports.ts';
import type { PollRecord, Reading } from '../domain/reading.ts';
import type { Settings } from '../domain/settings.ts';
import { changedOnlyReadings, letChangesGo } from '../engine/batch.ts';
import { skipUnwatched } from '../engine/clock-moved.ts';
import { learnAllFromHistory } from '../engine/learn-spending.ts';
import { observePoll } from '../engine/observe.ts';
import { startMonitor } from '../engine/restore.ts';
import type { MonitorState } from '../engine/state.ts';
import { endTurn } from '../engine/turn.ts';
import type { WatchedAccount } from '../engine/watched-account.ts';
import { Feed } from './feed.ts';
import { IncidentBook, type ReplayedIncident } from './incident-book.ts';
import { MergedFeeds } from './merge-feeds.ts';
import { type MessageCount, Notebook } from './notebook.ts';
import { type AccountPast, Survey, type SurveyedPast, usualInterval } from './past.ts';
import { startingReader, withUsualPolls } from './starting-state.ts';

/** What the configuration would have made of the past. */
export interface ReplayResult {
  /** In the order in which they fired; those of a provider as a whole among them. */
  readonly incidents: readonly ReplayedIncident[];
  readonly messages: MessageCount;
  /** The accounts that have a past, in the order given. */
  readonly accounts: readonly SurveyedPast[];
  /** The first poll, and the end of what was watched. Both 0 without any poll. */
  readonly since: number;
  readonly until: number;
}

/** Somebody who looks on. */
export interface ReplayObserver {
  /** Before the first poll is judged. */
  begins?(accounts: readonly SurveyedPast[]): void;
  /** A reading was judged; `account` is as the engine knows it after that. */
  read?(account: WatchedAccount, reading: Reading): void;
}

export interface ReplayParts {
  readonly settings: Settings;
  readonly calendar: Calendar;
  readonly pasts: readonly AccountPast[];
  readonly observer?: ReplayObserver;
}

/**
 * The past of all accounts, judged by the engine of the daemon as if it came in now: in the order of time, with what
 * time brings at its own instants between the polls, with silences, inhibition and outages of a provider. Every message is
 * delivered at once, nobody acknowledges anything, nothing is written.
 *
 * It goes on in slices of as many polls as the caller asks for, so that it may run beside something else. Of the past
 * only what the engine itself looks back on is in memory.
 */
export class Replay {
  readonly #work: Iterator<undefined, ReplayResult>;
  #left = 0;
  #done = 0;
  #total = 0;
  #result: ReplayResult | null = null;

  constructor(parts: ReplayParts) {
    this.#work = this.#run(parts);
  }

  /** How much of the polls was judged, from 0 to 1. */
  get progress(): number {
    return this.#total === 0 ? 0 : this.#done / this.#total;
  }

  /** Goes on by so many polls. Null until the past is over, then what came of it. */
  advance(polls: number): ReplayResult | null {
    this.#left = polls;
    if (this.#result === null) {
      const step = this.#work.next();
      if (step.done === true) this.#result = step.value;
    }
    return this.#result;
  }

  *#run({ settings, calendar, pasts, observer = {} }: ReplayParts): Generator<undefined, ReplayResult> {
    const surveyed: SurveyedPast[] = [];
    for (const past of pasts) {
      const survey = new Survey();
      for (const poll of past.polls()) {
        survey.take(poll);
        if (this.#isSliceOver()) yield;
      }
      const found = survey.finish(past);
      if (found !== null) surveyed.push(found);
    }
    this.#total = surveyed.reduce((sum, { count }) => sum + count, 0);
    observer.begins?.(surveyed);
    if (surveyed.length === 0) return nothing;
    const life = new PastLife({ settings, calendar, pasts: surveyed, observer });
    for (let polls = life.step(); polls !== null; polls = life.step()) {
      this.#done += polls;
      if (this.#isSliceOver()) yield;
    }
    return life.result();
  }

  #isSliceOver(): boolean {
    this.#left--;
    return this.#left <= 0;
  }
}

const nothing: ReplayResult = {
  incidents: [],
  messages: { total: 0, byChannel: new Map(), byWeek: [] },
  accounts: [],
  since: 0,
  until: 0,
};

/** So many turns in which nothing but readings changed are forgotten together: more would outlive the space of young objects. */
const quietTurns = 100;

/** The engine in the past: its state, and the accounts whose polls come in. */
class PastLife {
  readonly #state: MonitorState;
  readonly #notebook: Notebook;
  readonly #book: IncidentBook;
  readonly #feeds: MergedFeeds;
  readonly #observer: ReplayObserver;
  readonly #pasts: readonly SurveyedPast[];
  readonly #since: number;
  #until: number;
  /** Accounts that are being watched. While there is none, nobody is there whom time could tell anything. */
  readonly #watched = new Set<string>();
  #quietTurns = 0;

  constructor(parts: Omit<Required<ReplayParts>, 'pasts'> & { readonly pasts: readonly SurveyedPast[] }) {
    const { settings, calendar, pasts } = parts;
    this.#pasts = pasts;
    this.#observer = parts.observer;
    const feeds = pasts.map((past) => {
      const { poll } = past.account;
      const intervalMs = usualInterval(past, calendar);
      return new Feed(past, { poll, calendar, backoff: settings.provider.backoff, intervalMs });
    });
    this.#feeds = new MergedFeeds(feeds);
    this.#since = Math.min(...pasts.map(({ firstAt }) => firstAt));
    this.#until = this.#since;
    const reader = startingReader(pasts, this.#since);
    const now = this.#since;
    this.#state = startMonitor({
      settings: { ...settings, accounts: pasts.map((past) => withUsualPolls(past, calendar)) },
      calendar,
      random: countingIds(),
      reader,
      now,
    });
    learnAllFromHistory(this.#state, reader, now);
    this.#notebook = new Notebook(this.#state, this.#since);
    this.#book = new IncidentBook(this.#state);
  }

  /** Lets the next thing happen. Gives how many polls that was; null when the past is over. */
  step(): number | null {
    const feed = this.#feeds.first;
    if (feed === null) return null;
    const { at, step } = feed;
    const { id } = feed.past.account;
    if (step === 'poll') {
      const { poll } = feed;
      this.#feeds.advance();
      this.#liveUntil(at);
      this.#watched.add(id);
      this.#observe(id, outcomeOf(poll), at);
      return 1;
    }
    this.#liveUntil(step === 'end' ? at + 1 : at);
    this.#until = Math.max(this.#until, at);
    if (step === 'unread') this.#observe(id, unread, at);
    else if (step === 'end') this.#leave(id, this.#endOfAll() + 1 - at);
    else if (this.#groupWaits(id) && feed.wait()) {
      this.#feeds.moved();
      return 0;
    } else this.#leave(id, feed.forMs);
    this.#feeds.advance();
    return 0;
  }

  result(): ReplayResult {
    this.#notebook.finish();
    return {
      incidents: this.#book.incidents,
      messages: this.#notebook.count,
      accounts: this.#pasts,
      since: this.#since,
      until: this.#until,
    };
  }

  /** From now on nobody watches the account, for so long. */
  #leave(id: string, forMs: number): void {
    skipUnwatched(this.#state, id, forMs);
    this.#watched.delete(id);
  }

  /** Does what time brings before `at`, each at its own instant. */
  #liveUntil(at: number): void {
    if (this.#watched.size === 0) return;
    const { due } = this.#state;
    for (let next = this.#nextAt(due.nextAt); next < at; next = this.#nextAt(due.nextAt)) this.#endTurn(next);
  }

  #nextAt(dueAt: number): number {
    return Math.min(dueAt, this.#notebook.nextAt);
  }

  #observe(id: string, outcome: Outcome, at: number): void {
    const account = this.#state.accounts.get(id);
    if (account === undefined) throw new Error(`${id} has a past but is not watched`);
    observePoll(this.#state, account, outcome, at);
    if (outcome.kind === 'ok') this.#book.read(account);
    this.#endTurn(at);
    const { reading } = account.poll;
    if (outcome.kind === 'ok' && reading !== null) this.#observer.read?.(account, reading);
  }

  #endTurn(now: number): void {
    endTurn(this.#state, now);
    this.#takeChanges();
    while (this.#notebook.deliverDue(now)) {
      endTurn(this.#state, now);
      this.#takeChanges();
    }
  }

  /** What would be stored is written down as far as people ask for it, and forgotten. */
  #takeChanges(): void {
    if (changedOnlyReadings(this.#state) && ++this.#quietTurns < quietTurns) return;
    this.#quietTurns = 0;
    this.#book.note(letChangesGo(this.#state));
  }

  /** The provider asked all accounts that share the secret to wait: it is watched, and not polled. */
  #groupWaits(id: string): boolean {
    const { groups, backoffs } = this.#state;
    return (backoffs.get(groups.get(id) ?? id)?.strikes ?? 0) > 0;
  }

  /** An instant that no poll comes after. */
  #endOfAll(): number {
    return this.#pasts.reduce((latest, { lastAt, until }) => Math.max(latest, lastAt, until ?? 0), 0);
  }
}

const usage = {};
const unread: Outcome = {
  kind: 'network_error',
  reason: 'no reading is known of that time',
  durationMs: 0,
  usage,
};

function outcomeOf({ outcome, reading }: PollRecord): Outcome {
  if (outcome === 'ok') {
    if (reading === null) throw new Error('a poll that ended ok has a reading');
    return { kind: 'ok', answer: reading, durationMs: 0, usage };
  }
  return { kind: outcome, reason: 'as it is stored', durationMs: 0, usage };
}

/** Nothing of a replay is kept or sent: its ids need to be unique in it only, and its pauses are not random. */
function countingIds(): Random {
  let count = 0;
  return { fraction: () => 0.5, id: () => String(++count), bytes: (length) => Buffer.alloc(length) };
}
