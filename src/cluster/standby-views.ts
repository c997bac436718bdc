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

/** The state is read again if it is asked for, has changed, and was read at least this long ago … */
const freshMs = 5000;
/** … but reading takes a twentieth of the time at most, however much there is. */
const restFactor = 20;
/** The longest time of a read after which `freshMs` is pause enough. */
const cheapMs = freshMs / restFactor;

interface StandbyDependencies extends Omit<StoredDependencies, 'settings' | 'reader'> {
  readonly settings: () => Settings;
  readonly reader: StoreReader & Pick<StoreFile, 'leftOrders'>;
  /** A different value after each change of what is stored; null while the database does not answer. */
  readonly revision: () => string | null;
  /** When the database last answered, monotonic; null before, and if it answered that what is stored is not what the owner knows. */
  readonly heardAt: () => number | null;
  /** Nothing is shown for longer than this after the database's last answer. */
  readonly leaseMs: number;
  readonly leaveOrder: (order: LeftOrder) => Promise<void>;
  /** Everything in the status except what the stored state says. */
  readonly status: () => DaemonStatus;
  readonly counters: Counters;
  /** Null if nobody owns the accounts. */
  readonly owner: () => OwnerName | null;
  /** The node that owns the accounts on another server, where nobody reads orders that are left here; null if there is none. */
  readonly ownerElsewhere: () => string | null;
  /** The programs of all members. */
  readonly programs: () => readonly string[];
}

export interface StandbyViews extends LiveViews {
  /** Drops what was read, because this process has owned the accounts since. */
  forget(): void;
}

interface MadeOf {
  readonly revision: string | null;
  readonly settings: Settings;
}

type OwnerName = Pick<ClusterMember, 'node' | 'program'>;

/**
 * The views of a daemon that owns nothing, for the HTTP server. They show what is stored, a few seconds old (with tens of thousands of accounts up to
 * a minute), and the orders that are left in the database for the owner. Such orders take effect here at once, so that the person who gave one
 * sees it. Before the first read, and from a lease after the database's last answer, accounts are unknown and questions about alerts are
 * refused, because older knowledge may be wrong. Keys and ended sessions stay, so that nobody comes in by a cookie that was signed out.
 */
export async function createStandbyViews(parts: StandbyDependencies): Promise<StandbyViews> {
  const { reader, clock, leaveOrder, leaseMs } = parts;
  const now = () => clock.now();
  const restore = (stored: StoredState) => {
    // While somebody owns the accounts, time passes as it does there, however long ago the last poll was.
    const notes = parts.owner() === null ? {} : { [aliveNote]: String(now()) };
    const known = { ...stored, notes: { ...stored.notes, ...notes } };
    return restoreStored({ ...parts, settings: parts.settings() }, known);
  };
  let known = await restore(nothingStored);
  const views = createViews(() => known);
  /** The source of the present knowledge. The revision is null if nothing was read, or if it is too old. */
  let madeOf: MadeOf = { revision: null, settings: parts.settings() };
  /** When the present knowledge was read, or last confirmed by the database. */
  let confirmedAt = Number.NEGATIVE_INFINITY;
  let failure: StorageError | null = null;
  let restUntil = Number.NEGATIVE_INFINITY;
  /** The durations of the last reads, even failed ones. The shortest counts: a database that stands still only prolongs the others. */
  let tookMs: readonly number[] = [cheapMs, cheapMs, cheapMs];
  let updating: Promise<void> | null = null;
  const subscribers = new Set<() => void>();

  async function read(revision: string): Promise<void> {
    const startedAt = clock.monotonic();
    const settings = parts.settings();
    try {
      // Orders are read first: one that the owner executes meanwhile is then part of the state that is read after them.
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
    // If the database does not answer at all, the daemon's own problems say so.
    const unread =
      failure === null || parts.revision() === null
        ? []
        : [`what is stored cannot be read: ${failure.message}`];
    return { ...own, problems: [...waitingMessages(known.state, now()), ...unread, ...own.problems] };
  }

  function rests(): boolean {
    return clock.monotonic() < restUntil;
  }

  /** Whether the present knowledge may be shown: confirmed within a lease, or read by the rule of `freshMs` from a database that still answers. */
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

  /** The known state, read again if there may be something newer; an empty one if it is too old. */
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

  /** As `fresh`, for questions to which "nothing" would be a wrong answer. Throws if nothing was read. */
  async function freshOnceRead(): Promise<typeof known> {
    const read = await fresh();
    if (!isKnown()) throw notRead();
    return read;
  }

  /** Reads again, however short ago the last read was. Throws `StorageError` if it cannot. */
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

  /** Tells the reader of a page within seconds that something may look different. */
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
      // An order is checked against the present state, or not at all.
      const { state } = await exact();
      const owner = parts.owner();
      const reach = { poll: () => standsBy(owner), testAlert: leaveTest, handOver() {} };
      return leaveOrders(state, orders, now(), {
        ownerProgram: owner?.program ?? null,
        programs: parts.programs(),
        reach,
        leave: leaveOrder,
      }).catch((error: unknown) => {
        // A refused order must not be shown as executed.
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
    // Only the owner listens to chats.
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
