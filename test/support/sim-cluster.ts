import { StorageError } from '../../src/domain/operator-error.ts';
import { isOfAnotherVersion } from '../../src/engine/orders.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type {
  ClaimCondition,
  Cluster,
  ClusterLook,
  LoadOptions,
  MemberCard,
} from '../../src/ports/cluster.ts';
import type { Batch, FencedStore, LeftOrder, StoredState, StoreFile } from '../../src/ports/store.ts';
import { keptForMs } from '../../src/store/postgres/lease.ts';
import { RecentBatches } from '../../src/store/postgres/recent-batches.ts';
import { emptyReader, nothingStored } from '../../src/views/empty-reader.ts';

/** How one process reaches the database: each way takes `latencyMs`; a `cut` line carries nothing, until the client gives up. */
export interface Line {
  latencyMs: number;
  cut: boolean;
  /** Whether the database says at once that it takes no connection. */
  refuses?: boolean;
  /** The share of answers that are lost though the database did what it was asked, from 0 to 1, by this draw. */
  losesAnswer: () => boolean;
}

/** Lets the database do something for a process. Where the answer is lost the process hears of `kind`. */
export type Ask = <T>(work: () => T, kind?: StorageError['kind']) => Promise<T>;

/** What the owner of an epoch writes into, once it is known that it still owns. */
export interface Disk {
  readonly reader: StoreFile;
  commit(batch: Batch): void;
  prune(olderThan: number): boolean;
}

interface Member {
  card: MemberCard;
  expiresAt: number;
  batch: number;
}

/** One batch as it was stored, by whom. */
export interface StoredBatch {
  readonly epoch: number;
  readonly incarnation: string;
  readonly batch: Batch;
}

interface WaitingOrder {
  readonly no: number;
  readonly order: LeftOrder;
}

/** The records of a server besides those of accounts. */
export interface SimServer {
  readonly timeline: number;
  readonly slot: { readonly epoch: number; readonly incarnation: string };
  readonly members: Map<string, Member>;
  readonly orders: readonly WaitingOrder[];
}

const givesUpMs = 2500;
const emptyFile: StoreFile = {
  ...emptyReader,
  load: async () => nothingStored,
  backup: async () => undefined,
  leftOrders: async () => [],
};

function noDisk(): Disk {
  return { reader: emptyFile, commit: () => undefined, prune: () => false };
}

/** A simulated year stores millions of batches; nothing rolls back further. */
const maxLog = 1000;

/** The database that members share, as PostgreSQL answers them: its clock decides, every statement is whole. */
export class SimCluster {
  readonly log: StoredBatch[] = [];
  /** Somebody's lock lies on the slot. */
  locked = false;
  /** Why nobody may write the slot, as a clause; null where daemons may. */
  refusesClaims: string | null = null;
  /** By how much its clock is wrong. */
  aheadMs = 0;
  timeline = 1;
  /** What configurations consist of, by hash. */
  readonly configurations = new Map<string, string>();
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly #leaseMs: number;
  #members = new Map<string, Member>();
  #slot = { epoch: 0, incarnation: '' };
  #orders: readonly WaitingOrder[] = [];
  #lastOrder = 0;
  /** Called when a member took the accounts; `after` is the epoch in which it had them before. */
  taken: (incarnation: string, epoch: number, after: number | undefined) => void = () => undefined;

  constructor(clock: Pick<Clock, 'now' | 'monotonic'>, leaseMs: number) {
    this.#clock = clock;
    this.#leaseMs = leaseMs;
  }

  get epoch(): number {
    return this.#slot.epoch;
  }

  /** The incarnation that owns; null where its lease is over. */
  get owner(): string | null {
    return this.#lives(this.#slot.incarnation) ? this.#slot.incarnation : null;
  }

  leaveOrder(order: LeftOrder): void {
    this.#orders = [...this.#orders, { no: ++this.#lastOrder, order }];
  }

  /** The server that the daemons reach, which goes on to change. */
  get server(): SimServer {
    return { timeline: this.timeline, slot: this.#slot, members: this.#members, orders: this.#orders };
  }

  /** A replica that has got so far; once it is promoted it goes on under this timeline. */
  replicate(timeline: number): SimServer {
    const members = new Map([...this.#members].map(([id, member]) => [id, { ...member }]));
    return { timeline, slot: { ...this.#slot }, members, orders: this.#orders };
  }

  /** The daemons are led to another server. */
  leadTo({ timeline, slot, members, orders }: SimServer): void {
    this.timeline = timeline;
    this.#slot = slot;
    this.#members = members;
    this.#orders = orders;
  }

  /** Batches that a process remembers to have stored, by any of its connections. */
  recent(): RecentBatches {
    return new RecentBatches(() => this.#clock.monotonic());
  }

  /** The database as the process sees it whose questions travel by `ask`. */
  at(
    ask: Ask,
    disks: { readonly ask: Ask; readonly open: () => Disk } = { ask, open: noDisk },
    recent = this.recent(),
  ): Cluster {
    return {
      open: () => ask(() => undefined),
      look: () => ask(() => this.#look()),
      join: (card, gone = []) =>
        ask(() => {
          recent.left(gone);
          for (const incarnation of [...gone, ...this.#longGone()]) this.#leave(incarnation);
          this.#members.set(card.incarnation, { card, expiresAt: this.#leaseEnd(), batch: 0 });
        }),
      renew: (card) => ask(() => this.#renew(card)),
      claim: (incarnation, condition = {}) => ask(() => this.#claim(incarnation, condition)),
      endStuck: () => ask(() => undefined),
      takeLost: () => ask(() => this.#takeLost(recent)),
      leave: async (incarnation) => {
        await ask(() => this.#leave(incarnation));
        recent.left([incarnation]);
      },
      load: (options) => {
        recent.clear();
        return loadPatiently(() => ask(() => nothingStored), options);
      },
      setAside: async () => undefined,
      store: (owner, alreadyStored = 0) =>
        this.#storeOf({ ...owner, alreadyStored, recent }, disks.ask, disks.open()),
      reader: { ...emptyFile, load: () => ask(() => nothingStored) },
      publishConfiguration: async () => undefined,
      configurations: async () => this.configurations,
      leaveOrder: async (order) => this.leaveOrder(order),
      leaveUnstored: async () => undefined,
      close: async () => undefined,
    };
  }

  #storeOf(
    {
      incarnation,
      epoch,
      alreadyStored,
      recent,
    }: {
      readonly incarnation: string;
      readonly epoch: number;
      readonly alreadyStored: number;
      readonly recent: RecentBatches;
    },
    ask: Ask,
    disk: Disk,
  ): FencedStore {
    /** The next commit deletes them: what a newer program left stays for it. */
    let taken: readonly number[] = [];
    let stored = alreadyStored;
    let unsure: { readonly batch: Batch; readonly orders: readonly number[] } | null = null;
    const held = (): Member => {
      const member = this.#members.get(incarnation);
      if (this.#slot.epoch === epoch && this.#slot.incarnation === incarnation && member !== undefined)
        return member;
      throw new StorageError('fenced', 'simulated: another owns the accounts');
    };
    const write = ({ batch, orders }: NonNullable<typeof unsure>): void => {
      const member = held();
      if (member.batch === stored + 1) return;
      if (member.batch !== stored) throw new StorageError('fenced', 'simulated: commits are missing');
      disk.commit(batch);
      member.batch = stored + 1;
      this.#orders = this.#orders.filter(({ no }) => !orders.includes(no));
      this.log.push({ epoch, incarnation, batch });
      if (this.log.length > maxLog) this.log.shift();
    };
    const store = async (sending: NonNullable<typeof unsure>): Promise<void> => {
      try {
        await ask(() => write(sending), 'unknown');
      } catch (error) {
        if (!(error instanceof StorageError) || error.kind === 'fenced') throw error;
        if (error.kind === 'unknown') {
          unsure = sending;
          recent.doubt({ incarnation, number: stored + 1, batch: sending.batch });
        }
        throw unsure === null ? error : new StorageError('unknown', error.message);
      }
      unsure = null;
      stored += 1;
      recent.keep({ incarnation, number: stored, batch: sending.batch });
      taken = taken.filter((no) => !sending.orders.includes(no));
    };
    return {
      ...disk.reader,
      takeDamaged: () => [],
      takeUnstored: async () => new Map(),
      takeOrders: async () => {
        const waiting = await ask(() => this.#orders);
        const fresh = waiting.filter(({ no }) => !recent.givenOrders.has(String(no)));
        for (const { no } of fresh) recent.givenOrders.add(String(no));
        taken = waiting.filter(({ order }) => !isOfAnotherVersion(order)).map(({ no }) => no);
        return fresh.map(({ order }) => order);
      },
      prune: (olderThan) =>
        ask(() => {
          held();
          return disk.prune(olderThan);
        }),
      commit: async (batch) => {
        if (recent.isStored(batch)) return;
        if (unsure !== null && unsure.batch !== batch) throw new Error('another batch while one is unknown');
        await store(unsure ?? { batch, orders: taken });
      },
      get stored() {
        return stored;
      },
      settle: async () => {
        if (unsure !== null) await store(unsure);
      },
    };
  }

  /** As a fail-over to a replica that is behind: the last commits and, where it says so, the last claim are gone. */
  rollBack({ commits, claims = 0 }: { readonly commits: number; readonly claims?: number }): void {
    this.timeline += 1;
    // What its owner stored came after the claim: it is gone with it.
    const ofClaim = claims === 0 ? 0 : this.log.filter(({ epoch }) => epoch >= this.#slot.epoch).length;
    for (const { incarnation } of this.log.splice(this.log.length - Math.max(commits, ofClaim))) {
      const member = this.#members.get(incarnation);
      if (member !== undefined) member.batch -= 1;
    }
    if (claims === 0) return;
    this.#members.delete(this.#slot.incarnation);
    this.#slot = { epoch: this.#slot.epoch - claims, incarnation: '' };
  }

  #takeLost(recent: RecentBatches): readonly Batch[] {
    return recent.takeLost(new Map([...this.#members].map(([id, { batch }]) => [id, batch])));
  }

  #leave(incarnation: string): void {
    this.#members.delete(incarnation);
    if (this.#slot.incarnation === incarnation) this.#slot.incarnation = '';
  }

  /** Members whose lease ended long ago, but the last owner: who was killed never leaves. */
  #longGone(): string[] {
    const before = this.#clock.monotonic() - keptForMs;
    return [...this.#members].flatMap(([incarnation, { expiresAt }]) =>
      expiresAt < before && incarnation !== this.#slot.incarnation ? [incarnation] : [],
    );
  }

  #leaseEnd(): number {
    return this.#clock.monotonic() + this.#leaseMs;
  }

  #lives(incarnation: string): boolean {
    return (this.#members.get(incarnation)?.expiresAt ?? 0) > this.#clock.monotonic();
  }

  #renew(card: MemberCard): ClusterLook & { readonly renewed: boolean } {
    const renewed = this.#lives(card.incarnation);
    const member = this.#members.get(card.incarnation);
    if (renewed && member !== undefined) {
      member.expiresAt = this.#leaseEnd();
      member.card = card;
    }
    return { ...this.#look(), renewed };
  }

  /** Somebody cleared by hand who owns the accounts. */
  clearOwner(): void {
    this.#slot.incarnation = '';
  }

  /** Its clock goes back by so much: the leases that it has given end so much later. */
  setBack(ms: number): void {
    for (const member of this.#members.values()) member.expiresAt += ms;
  }

  #claim(incarnation: string, { after, above = 0, overdue }: ClaimCondition): number | null {
    if (this.refusesClaims !== null) throw new StorageError('unfit', this.refusesClaims);
    if (this.locked || (after !== undefined && this.#slot.epoch !== after)) return null;
    const isOverdue = this.#members.get(this.#slot.incarnation)?.expiresAt === overdue;
    if ((this.#lives(this.#slot.incarnation) && !isOverdue) || !this.#lives(incarnation)) return null;
    this.#slot = { epoch: Math.max(this.#slot.epoch, above) + 1, incarnation };
    this.taken(incarnation, this.#slot.epoch, after);
    return this.#slot.epoch;
  }

  #look(): ClusterLook {
    const { epoch, incarnation } = this.#slot;
    return {
      databaseNow: this.#clock.now() + this.aheadMs,
      origin: { system: 'simulated', timeline: this.timeline },
      epoch,
      owner: this.owner,
      lapsedOwner: this.owner === null ? (this.#members.get(incarnation)?.card.node ?? null) : null,
      batch: this.#members.get(incarnation)?.batch ?? null,
      members: [...this.#members.values()]
        .filter(({ card }) => this.#lives(card.incarnation))
        .map(({ card, expiresAt }) => ({ ...card, expiresAt, program: 'lowwater test' })),
    };
  }
}

/** As an owner loads: after a failure that may pass it asks again. */
export async function loadPatiently(
  load: () => Promise<StoredState>,
  { goOn }: LoadOptions,
): Promise<StoredState> {
  for (;;) {
    try {
      return await load();
    } catch (error) {
      if (!(error instanceof StorageError) || !(await goOn())) throw error;
    }
  }
}

/** Questions of a process at the end of a line, which goes by this clock. */
export function askOver(line: Line, clock: Pick<Clock, 'setTimer'>): Ask {
  const wait = (ms: number): Promise<void> => new Promise((resolve) => clock.setTimer(ms, resolve));
  return async (work, kind = 'other') => {
    if (line.cut) {
      await wait(givesUpMs);
      throw new StorageError('other', 'simulated: the database cannot be reached');
    }
    await wait(line.latencyMs);
    if (line.refuses === true) throw new StorageError('other', 'simulated: it takes no connection');
    // What was sent before the line was cut may still arrive.
    const answer = work();
    if (line.losesAnswer()) {
      await wait(givesUpMs);
      throw new StorageError(kind, 'simulated: no answer');
    }
    await wait(line.latencyMs);
    if (!line.cut) return answer;
    await wait(givesUpMs);
    throw new StorageError(kind, 'simulated: no answer');
  };
}
