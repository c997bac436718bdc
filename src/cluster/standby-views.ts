import type { Counters } from '../daemon/counting.ts';
import type { OperatorOrder, Refusal } from '../domain/operator.ts';
import { StorageError } from '../domain/operator-error.ts';
import type { Settings } from '../domain/settings.ts';
import { expectTopUp } from '../engine/expect-top-up.ts';
import { addSilence, applyOrder, extendSilence } from '../engine/operate.ts';
import type { MonitorState } from '../engine/state.ts';
import type { StoredState } from '../ports/store.ts';
import { createViews } from '../views/create-views.ts';
import { nothingStored } from '../views/empty-reader.ts';
import type { DaemonStatus, LiveViews } from '../views/live-views.ts';
import { restoreStored, type StoredDependencies } from '../views/stored-views.ts';

/** What is shown is read again when it is asked for, has changed, and was read this long ago or longer … */
const freshMs = 5000;
/** … but reading takes a twentieth of the time at most, however much there is. */
const restFactor = 20;

interface StandbyDependencies extends Omit<StoredDependencies, 'settings'> {
  readonly settings: () => Settings;
  /** Another one each time that something was stored; null while the database does not answer. */
  readonly revision: () => string | null;
  readonly leaveOrder: (order: OperatorOrder) => Promise<void>;
  readonly status: () => DaemonStatus;
  readonly counters: Counters;
  /** Where the owner can be asked, in words; null where nobody owns the accounts. */
  readonly ownerName: () => string | null;
}

/**
 * A daemon that owns nothing, as the HTTP server sees it: what is stored, a few seconds old (with tens of thousands of accounts up to
 * a minute), and orders that are left in the database for the owner. They take effect here at once, so that whoever ordered something
 * sees it. As long as nothing could be read, accounts are unknown, and there is no answer to the question which alerts there are.
 */
export async function createStandbyViews(parts: StandbyDependencies): Promise<LiveViews> {
  const { reader, clock, leaveOrder } = parts;
  const now = () => clock.now();
  const restore = (stored: StoredState) => restoreStored({ ...parts, settings: parts.settings() }, stored);
  let known = await restore(nothingStored);
  const views = createViews(() => known);
  /** Of what the present knowledge was made; null before anything was read. */
  let madeOf: { readonly revision: string; readonly settings: Settings } | null = null;
  let restUntil = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | null = null;
  const subscribers = new Set<() => void>();

  async function read(revision: string): Promise<void> {
    const startedAt = clock.monotonic();
    const settings = parts.settings();
    try {
      known = await restore(await reader.load());
      madeOf = { revision, settings };
    } catch (error) {
      // What was read last is better than nothing, and the status says that the database does not answer.
      if (!(error instanceof StorageError)) throw error;
    }
    restUntil = startedAt + Math.max(freshMs, restFactor * (clock.monotonic() - startedAt));
  }

  function rests(): boolean {
    return clock.monotonic() < restUntil;
  }

  /** What is known, read again where there may be something newer. */
  async function fresh(): Promise<typeof known> {
    const revision = parts.revision();
    const isSame = madeOf?.revision === revision && madeOf.settings === parts.settings();
    if (revision !== null && !isSame && !rests()) {
      reading ??= read(revision).finally(() => {
        reading = null;
      });
      await reading;
    }
    return known;
  }

  /** As `fresh`, for questions to which "nothing" would be an answer. */
  async function freshOnceRead(): Promise<typeof known> {
    const read = await fresh();
    if (madeOf === null) throw new StorageError('other', 'nothing has been read of the shared database yet');
    return read;
  }

  function seen(): string {
    const revision = rests() ? madeOf?.revision : parts.revision();
    return JSON.stringify([revision, parts.status().problems]);
  }

  /** Who watches a page hears within seconds what may look different. */
  function notifyLater(notified: string): void {
    clock.setTimer(freshMs, () => {
      const now = seen();
      if (now !== notified) for (const changed of subscribers) changed();
      if (subscribers.size > 0) notifyLater(now);
    });
  }

  /** Does it to what is known here, and leaves the order for the owner unless it is refused. */
  async function order<T>(
    act: (state: MonitorState) => T | Refusal,
    left: (made: T) => OperatorOrder,
  ): Promise<T | Refusal> {
    const { state } = await freshOnceRead();
    const made = act(state);
    if (isRefusal(made)) return made;
    await leaveOrder(left(made));
    return made;
  }

  function leave(wanted: Parameters<typeof applyOrder>[1]): Promise<Refusal | null> {
    return order(
      (state) => applyOrder(state, wanted, now()),
      () => wanted,
    );
  }

  return {
    ...views,
    accounts: async (ids) => fresh().then(() => views.accounts(ids)),
    accountsInBrief: async (ids) => fresh().then(() => views.accountsInBrief(ids)),
    summary: async (limit) => fresh().then(() => views.summary(limit)),
    account: async (id) => fresh().then(() => views.account(id)),
    alerts: async (query) => freshOnceRead().then(() => views.alerts(query)),
    alert: async (account, rule) => freshOnceRead().then(() => views.alert(account, rule)),
    explain: async (account) => fresh().then(() => views.explain(account)),
    // What is ordered here is left for the owner, who keeps it when it carries it out.
    recordAction: async () => undefined,
    acknowledge: (it) => leave({ kind: 'acknowledge', ...it, at: now() }),
    acknowledgeAll: ({ alerts, by, comment }) =>
      Promise.all(alerts.map((alert) => leave({ kind: 'acknowledge', ...alert, by, comment, at: now() }))),
    unacknowledge: ({ account, rule }) => leave({ kind: 'unacknowledge', account, rule, at: now() }),
    expectTopUp: (wanted) =>
      order(
        (state) => expectTopUp(state, wanted, now()),
        ({ by }) => ({ kind: 'expect-top-up', ...wanted, by, at: now() }),
      ),
    cancelExpected: (topUp) => leave({ kind: 'cancel-expected', ...topUp, at: now() }),
    silence: (wanted) =>
      order(
        (state) => addSilence(state, wanted, now()),
        (silence) => ({ kind: 'silence', silence }),
      ),
    expireSilence: (id) => leave({ kind: 'expire', id, at: now() }),
    extendSilence: async (wanted) => {
      const made = await order(
        (state) => extendSilence(state, wanted, now()) ?? silenceOf(state, wanted.id),
        (silence) => ({ kind: 'silence', silence }),
      );
      return isRefusal(made) ? made : null;
    },
    pollNow: async () => standsBy(parts.ownerName()),
    pushReading: async () => standsBy(parts.ownerName()),
    // Who signs out here is signed out of this process (`CurrentViews`): what is stored is the owner's.
    endSession: async () => undefined,
    recordSession: () => undefined,
    renewCalendarKey: async () => standsBy(parts.ownerName()),
    status: parts.status,
    counters: parts.counters,
    subscribe(changed) {
      if (subscribers.size === 0) notifyLater(seen());
      subscribers.add(changed);
      return () => subscribers.delete(changed);
    },
  };
}

function silenceOf(state: MonitorState, id: string) {
  const silence = state.silences.get(id);
  if (silence === undefined) throw new Error('a silence vanished while it was made longer');
  return silence;
}

function isRefusal<T>(made: T | Refusal): made is Refusal {
  return typeof made === 'object' && made !== null && 'refused' in made;
}

function standsBy(owner: string | null): Refusal {
  const who = owner === null ? 'nobody owns the accounts just now' : `${owner} polls the accounts`;
  return { refused: 'not-now', why: `this daemon stands by: ${who}` };
}
