import type { StoredSpending, StoreReader } from '../domain/ports.ts';
import type { Reading } from '../domain/reading.ts';
import type { AccountSettings } from '../domain/settings.ts';
import { AccountSpending } from '../spending/account-spending.ts';
import type { MonitorState } from './state.ts';
import { emptyAt, type WatchedAccount } from './watched-account.ts';

/** What is longer ago says nothing that ten weeks do not. */
const historyMs = 70 * 86_400_000;

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

/** Takes in the readings that came since what was stored of the spending, unless all of it is made from history. */
export function catchUpSpending(state: MonitorState, account: WatchedAccount, reader: StoreReader): void {
  if (state.unlearned.has(account.id)) return;
  const { spending } = account;
  const since = (spending.last?.at ?? 0) + 1;
  if ((account.poll.reading?.at ?? 0) < since) return;
  const query = { account: account.id, since, until: Number.MAX_SAFE_INTEGER, asStored: true };
  for (const reading of reader.readings(query)) spending.read(reading);
}

/** Learns at once whatever is not known of spending, for who has no polls to look after meanwhile. */
export function learnAllFromHistory(state: MonitorState, reader: StoreReader, now: number): void {
  for (const id of [...state.unlearned]) {
    const account = state.accounts.get(id);
    if (account !== undefined)
      new LearnFromHistory(state, { account, reader, now }).step(Number.POSITIVE_INFINITY);
  }
}

/** Learns the spending of one account from its stored history, a few readings at a time, while polling goes on. */
export class LearnFromHistory {
  readonly #state: MonitorState;
  readonly #account: string;
  readonly #readings: Iterator<Reading>;
  readonly #spending: AccountSpending;

  constructor(
    state: MonitorState,
    it: { readonly account: WatchedAccount; readonly reader: StoreReader; readonly now: number },
  ) {
    const { settings, id } = it.account;
    this.#state = state;
    this.#account = id;
    this.#spending = new AccountSpending({
      account: id,
      week: state.weeks.of(settings),
      floorMicros: emptyAt(settings),
    });
    const query = { account: id, since: it.now - historyMs, until: Number.MAX_SAFE_INTEGER, asStored: true };
    this.#readings = it.reader.readings(query)[Symbol.iterator]();
  }

  /** Takes in so many readings. True when there is nothing more to learn, or nobody to learn it for. */
  step(count: number): boolean {
    const account = this.#state.accounts.get(this.#account);
    if (account === undefined || !this.#state.unlearned.has(this.#account)) return true;
    for (let taken = 0; taken < count; taken++) {
      const next = this.#readings.next();
      if (next.done === true) return this.#finish(account);
      this.#spending.read(next.value);
    }
    return false;
  }

  /** What was read meanwhile, and is perhaps not stored yet, is still in the log. */
  #finish(account: WatchedAccount): true {
    const learnedTo = this.#spending.last?.at ?? 0;
    for (const reading of account.log.readings(learnedTo + 1)) this.#spending.read(reading);
    this.#state.unlearned.delete(account.id);
    this.#state.spending.set(account.id, this.#spending);
    return true;
  }
}
