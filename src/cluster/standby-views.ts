import type { Counters } from '../daemon/counting.ts';
import { type Refusal, refuse } from '../domain/operator.ts';
import { StorageError } from '../domain/operator-error.ts';
import type { Settings } from '../domain/settings.ts';
import type { ClusterMember } from '../ports/cluster.ts';
import type { LeftOrder, StoredState } from '../ports/store.ts';
import { createViews } from '../views/create-views.ts';
import { nothingStored } from '../views/empty-reader.ts';
import { leaveOrders, leaveTest } from '../views/leave-orders.ts';
import type { DaemonStatus, LiveViews } from '../views/live-views.ts';
import { restoreStored, type StoredDependencies } from '../views/stored-views.ts';

/** The shown state is read again when it is asked for, has changed, and was read this long ago or longer … */
const freshMs = 5000;
/** … but reading takes a twentieth of the time at most, however much there is. */
const restFactor = 20;

interface StandbyDependencies extends Omit<StoredDependencies, 'settings'> {
  readonly settings: () => Settings;
  /** Another one each time that something was stored; null while the database does not answer. */
  readonly revision: () => string | null;
  readonly leaveOrder: (order: LeftOrder) => Promise<void>;
  readonly status: () => DaemonStatus;
  readonly counters: Counters;
  /** Null where nobody owns the accounts. */
  readonly owner: () => OwnerName | null;
}

type OwnerName = Pick<ClusterMember, 'node' | 'program'>;

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
  /** The source of the present knowledge; null before anything was read. */
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
      // The last reading is better than nothing, and the status says that the database does not answer.
      if (!(error instanceof StorageError)) throw error;
    }
    restUntil = startedAt + Math.max(freshMs, restFactor * (clock.monotonic() - startedAt));
  }

  function rests(): boolean {
    return clock.monotonic() < restUntil;
  }

  /** The known state, read again where there may be something newer. */
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

  /** `fresh` for questions to which "nothing" would be an answer. */
  async function freshOnceRead(): Promise<typeof known> {
    const read = await fresh();
    if (madeOf === null) throw new StorageError('other', 'nothing has been read of the shared database yet');
    return read;
  }

  function seen(): string {
    const revision = rests() ? madeOf?.revision : parts.revision();
    return JSON.stringify([revision, parts.status().problems]);
  }

  /** The reader of a page hears within seconds what may look different. */
  function notifyAfter(before: string): void {
    clock.setTimer(freshMs, () => {
      const now = seen();
      if (now !== before) for (const changed of subscribers) changed();
      if (subscribers.size > 0) notifyAfter(now);
    });
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
    stores: () => true,
    async orders(orders) {
      const { state } = await freshOnceRead();
      const owner = parts.owner();
      const reach = { poll: () => standsBy(owner), testAlert: leaveTest, handOver() {} };
      return leaveOrders(state, orders, now(), {
        ownerProgram: owner?.program ?? null,
        reach,
        leave: leaveOrder,
      });
    },
    pushReading: async () => standsBy(parts.owner()),
    recordSession: () => undefined,
    status: parts.status,
    counters: parts.counters,
    // Only the owner listens.
    listening: () => [],
    subscribe(changed) {
      if (subscribers.size === 0) notifyAfter(seen());
      subscribers.add(changed);
      return () => subscribers.delete(changed);
    },
  };
}

function standsBy(owner: OwnerName | null): Refusal {
  const who = owner === null ? 'nobody owns the accounts just now' : `${owner.node} polls the accounts`;
  return refuse('not-now', `this daemon stands by: ${who}`);
}
