import type { Counters } from '../daemon/counting.ts';
import { type Refusal, refuse } from '../domain/operator.ts';
import { StorageError } from '../domain/operator-error.ts';
import type { Settings } from '../domain/settings.ts';
import { isAccessNote } from '../engine/access.ts';
import { refusals } from '../engine/orders/refusals.ts';
import { aliveNote } from '../engine/restore.ts';
import type { ClusterMember } from '../ports/cluster.ts';
import type { LeftOrder, StoredState, StoreFile, StoreReader } from '../ports/store.ts';
import { createViews, notRead } from '../views/create-views.ts';
import { nothingStored } from '../views/empty-reader.ts';
import { leaveOrders, leaveTest } from '../views/leave-orders.ts';
import { type DaemonStatus, type LiveViews, waitingMessages } from '../views/live-views.ts';
import { carryOut, restoreStored, type StoredDependencies } from '../views/stored-views.ts';

/** The shown state is read again when it is asked for, has changed, and was read this long ago or longer … */
const freshMs = 5000;
/** … but reading takes a twentieth of the time at most, however much there is. */
const restFactor = 20;
/** The time of a read for which `freshMs` is rest enough. */
const cheapMs = freshMs / restFactor;

interface StandbyDependencies extends Omit<StoredDependencies, 'settings' | 'reader'> {
  readonly settings: () => Settings;
  readonly reader: StoreReader & Pick<StoreFile, 'leftOrders'>;
  /** Another one each time that something was stored; null while the database does not answer. */
  readonly revision: () => string | null;
  /** When it last answered, monotonic; null where that was that what is stored is not what the owner knows, and before. */
  readonly heardAt: () => number | null;
  /** Nothing is shown longer than this after the database answered last. */
  readonly leaseMs: number;
  readonly leaveOrder: (order: LeftOrder) => Promise<void>;
  /** All but what the stored state says. */
  readonly status: () => DaemonStatus;
  readonly counters: Counters;
  /** Null where nobody owns the accounts. */
  readonly owner: () => OwnerName | null;
  /** The node that owns the accounts on another server, where nobody reads orders that are left here; null where there is none. */
  readonly ownerElsewhere: () => string | null;
  /** The programs of all members. */
  readonly programs: () => readonly string[];
}

export interface StandbyViews extends LiveViews {
  /** Drops what was read: this process has owned the accounts since. */
  forget(): void;
}

interface MadeOf {
  readonly revision: string | null;
  readonly settings: Settings;
}

type OwnerName = Pick<ClusterMember, 'node' | 'program'>;

/**
 * A daemon that owns nothing, as the HTTP server sees it: what is stored, a few seconds old (with tens of thousands of accounts up to
 * a minute), and orders that are left in the database for the owner. They take effect here at once, so that whoever ordered something
 * sees it. Before anything was read, and a lease after the database answered last, accounts are unknown, and there is no answer to the question
 * which alerts there are: what was read before may be over. Keys and ended sessions stay, as nobody may come in by a cookie that was signed out.
 */
export async function createStandbyViews(parts: StandbyDependencies): Promise<StandbyViews> {
  const { reader, clock, leaveOrder, leaseMs } = parts;
  const now = () => clock.now();
  const restore = (stored: StoredState) => {
    // While somebody owns the accounts, time counts as it does there, however long ago the last poll was.
    const notes = parts.owner() === null ? {} : { [aliveNote]: String(now()) };
    const known = { ...stored, notes: { ...stored.notes, ...notes } };
    return restoreStored({ ...parts, settings: parts.settings() }, known);
  };
  let known = await restore(nothingStored);
  const views = createViews(() => known);
  /** The source of the present knowledge; the revision is null where nothing was read, or that is too old. */
  let madeOf: MadeOf = { revision: null, settings: parts.settings() };
  /** When the present knowledge was read, or the database last said that it holds. */
  let confirmedAt = Number.NEGATIVE_INFINITY;
  let failure: StorageError | null = null;
  let restUntil = Number.NEGATIVE_INFINITY;
  /** The times of the last reads, be they in vain. Reading takes the least of them: a database that stands still adds to it. */
  let tookMs: readonly number[] = [cheapMs, cheapMs, cheapMs];
  let updating: Promise<void> | null = null;
  const subscribers = new Set<() => void>();

  async function read(revision: string): Promise<void> {
    const startedAt = clock.monotonic();
    const settings = parts.settings();
    try {
      // Looked for first: what the owner carries out meanwhile is in what is loaded after it.
      const orders = await reader.leftOrders();
      const read = await restore(await reader.load());
      carryOut(read, orders);
      known = read;
      madeOf = { revision, settings };
      confirmedAt = startedAt;
      failure = null;
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      failure = error;
    }
    tookMs = [...tookMs.slice(1), clock.monotonic() - startedAt];
    restUntil = startedAt + restFactor * Math.max(cheapMs, Math.min(...tookMs));
  }

  function status(): DaemonStatus {
    const own = parts.status();
    // Its own problems say where the database does not answer at all.
    const unread =
      failure === null || parts.revision() === null
        ? []
        : [`what is stored cannot be read: ${failure.message}`];
    return { ...own, problems: [...waitingMessages(known.state, now()), ...unread, ...own.problems] };
  }

  function rests(): boolean {
    return clock.monotonic() < restUntil;
  }

  /** Whether the present knowledge may be shown: confirmed within a lease, or read by the rule of `freshMs` from a database that answers. */
  function isCurrent(): boolean {
    const heardAt = parts.heardAt();
    if (madeOf.revision === null || heardAt === null) return false;
    const now = clock.monotonic();
    if (parts.revision() === madeOf.revision) confirmedAt = Math.max(confirmedAt, heardAt);
    return now < confirmedAt + leaseMs || (failure === null && rests() && now < heardAt + leaseMs);
  }

  async function update(): Promise<void> {
    const revision = parts.revision();
    const isSame = madeOf.revision === revision && madeOf.settings === parts.settings();
    if (revision !== null && !isSame && !rests()) await read(revision);
    if (isCurrent()) return;
    const settings = parts.settings();
    if (madeOf.revision === null && madeOf.settings === settings) return;
    const kept = [...known.state.notes.values()].filter(({ name }) => isAccessNote(name));
    const notes = Object.fromEntries(kept.map(({ name, value }) => [name, value]));
    known = await restore({ ...nothingStored, notes });
    madeOf = { revision: null, settings };
  }

  /** The known state, read again where there may be something newer; one that knows nothing where it is too old. */
  async function fresh(): Promise<typeof known> {
    updating ??= update().finally(() => {
      updating = null;
    });
    await updating;
    return known;
  }

  function isKnown(): boolean {
    return madeOf.revision !== null;
  }

  /** `fresh` for questions to which "nothing" would be an answer. */
  async function freshOnceRead(): Promise<typeof known> {
    const read = await fresh();
    if (!isKnown()) throw notRead();
    return read;
  }

  /** Reads once more, however lately it did. Throws `StorageError` where it cannot. */
  async function exact(): Promise<typeof known> {
    await updating;
    outdate();
    const read = await freshOnceRead();
    if (parts.revision() === null || failure !== null)
      throw new StorageError('other', 'the shared database cannot be read');
    return read;
  }

  function seen(): string {
    const revision = rests() ? madeOf.revision : parts.revision();
    const isTooOld = madeOf.revision !== null && !isCurrent();
    return JSON.stringify([revision, isTooOld, status().problems]);
  }

  function outdate(): void {
    madeOf = { ...madeOf, revision: '' };
    restUntil = Number.NEGATIVE_INFINITY;
  }

  function forget(): void {
    outdate();
    confirmedAt = Number.NEGATIVE_INFINITY;
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
    isKnown,
    accounts: async (ids) => fresh().then(() => views.accounts(ids)),
    accountsInBrief: async (ids) => fresh().then(() => views.accountsInBrief(ids)),
    summary: async (limit) => fresh().then(() => views.summary(limit)),
    account: async (id) => fresh().then(() => views.account(id)),
    alerts: async (query) => freshOnceRead().then(() => views.alerts(query)),
    alert: async (account, rule) => freshOnceRead().then(() => views.alert(account, rule)),
    explain: async (account) => freshOnceRead().then(() => views.explain(account)),
    incidents: async (query) => freshOnceRead().then(() => views.incidents(query)),
    notifications: async (...page) => freshOnceRead().then(() => views.notifications(...page)),
    stores: () => true,
    silenced: async (query) => fresh().then(() => views.silenced(query)),
    async orders(orders) {
      const elsewhere = parts.ownerElsewhere();
      if (elsewhere !== null) return orders.map(() => standsBy({ node: elsewhere }));
      // An order is judged by what holds now, or not at all.
      const { state } = await exact();
      const owner = parts.owner();
      const reach = { poll: () => standsBy(owner), testAlert: leaveTest, handOver() {} };
      return leaveOrders(state, orders, now(), {
        ownerProgram: owner?.program ?? null,
        programs: parts.programs(),
        reach,
        leave: leaveOrder,
      }).catch((error: unknown) => {
        // A refused order must not be shown as done.
        forget();
        throw error;
      });
    },
    refresh: async (isExact = false) => void (await (isExact ? exact() : fresh())),
    forget,
    pushReading: async () => standsBy(parts.owner()),
    recordSession: () => undefined,
    status,
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

function standsBy(owner: Pick<OwnerName, 'node'> | null): Refusal {
  return refuse('not-now', owner === null ? refusals.ownerless() : refusals.standsBy(owner));
}
