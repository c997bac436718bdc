import { dayMs } from '../domain/duration.ts';
import type { Reading } from '../domain/reading.ts';
import type { AccountSettings } from '../domain/settings.ts';
import type { HistoryQuery, StoredSpending } from '../ports/store.ts';
import { AccountSpending } from '../spending/account-spending.ts';
import type { MonitorState } from './state.ts';
import { emptyAt, type WatchedAccount } from './watched-account.ts';

/** What is longer ago says nothing that ten weeks do not. */
const historyMs = 70 * dayMs;

/** Takes a new reading into what is known of the account's spending; what an hour's end changed is stored. */
export function learnSpending(state: MonitorState, account: WatchedAccount, reading: Reading): void {
  // While it is made from history it must not begin with the present.
  if (state.unlearned.has(account.id)) return;
  if (account.spending.read(reading)) state.spending.set(account.id, account.spending);
}

/** The spending of an account under its settings as they are now. In another time zone it has to be learned anew. */
export function followSpending(state: MonitorState, settings: AccountSettings): void {
  const known = state.spending.get(settings.id);
  const frame = { week: state.weeks.of(settings), floorMicros: emptyAt(settings) };
  if (known?.adopt(frame) === true) return;
  state.spending.hold(settings.id, new AccountSpending({ account: settings.id, ...frame }));
  state.unlearned.add(settings.id);
}

/**
 * Goes on from what was stored at the end of an hour. What was not stored, or by another version, or in another time zone, is made
 * from history later (`LearnFromHistory`).
 */
export function restoreSpending(
  state: MonitorState,
  account: WatchedAccount,
  stored: StoredSpending | undefined,
): void {
  const isRestored = stored !== undefined && state.spending.get(account.id)?.restore(stored.bytes) === true;
  // Without any history it begins with the present.
  if (isRestored || account.poll.reading === null) state.unlearned.delete(account.id);
}

/** From when on readings are missing in what is known of the spending; Infinity where all of it is made from history. */
export function spendingKnownSince(state: MonitorState, { id, spending }: WatchedAccount): number {
  return state.unlearned.has(id) ? Number.POSITIVE_INFINITY : (spending.last?.at ?? 0) + 1;
}

/** Takes in, of stored readings, those that came since what was stored of the spending, unless all of it is made from history. */
export function catchUpSpending(
  state: MonitorState,
  account: WatchedAccount,
  readings: readonly Reading[],
): void {
  const since = spendingKnownSince(state, account);
  for (const reading of readings) if (reading.at >= since) account.spending.read(reading);
}

/** Learns the spending of one account from its stored history, some readings at a time, while polling goes on. */
export class LearnFromHistory {
  /** What it is made from. */
  readonly query: HistoryQuery;
  readonly #state: MonitorState;
  readonly #spending: AccountSpending;

  constructor(state: MonitorState, { settings, id }: WatchedAccount, now: number) {
    this.#state = state;
    this.#spending = new AccountSpending({
      account: id,
      week: state.weeks.of(settings),
      floorMicros: emptyAt(settings),
    });
    this.query = { account: id, since: now - historyMs, until: Number.MAX_SAFE_INTEGER, asStored: true };
  }

  /** Nobody is there any more to learn it for. */
  get isOver(): boolean {
    return !this.#state.unlearned.has(this.query.account);
  }

  take(readings: readonly Reading[]): void {
    for (const reading of readings) this.#spending.read(reading);
  }

  /** All was taken. What was read meanwhile, and is perhaps not stored yet, is still in the log. */
  finish(): void {
    const account = this.#state.accounts.get(this.query.account);
    if (account === undefined || this.isOver) return;
    const learnedTo = this.#spending.last?.at ?? 0;
    for (const reading of account.log.readings(learnedTo + 1)) this.#spending.read(reading);
    this.#state.unlearned.delete(account.id);
    this.#state.spending.set(account.id, this.#spending);
  }
}
