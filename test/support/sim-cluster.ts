import type { Cluster, ClusterLook, MemberCard, Store } from '../../src/daemon/ports.ts';
import { type Batch, type OperatorOrder, StorageError } from '../../src/domain/ports.ts';
import { emptyReader, nothingStored } from '../../src/views/empty-reader.ts';
import type { FakeClock } from './fake-clock.ts';

/** How one process reaches the database: each way takes `latencyMs`; a `cut` line carries nothing, until the client gives up. */
export interface Line {
  latencyMs: number;
  cut: boolean;
  /** The share of answers that are lost though the database did what it was asked, from 0 to 1, by this draw. */
  losesAnswer: () => boolean;
}

interface Member {
  readonly card: MemberCard;
  expiresAt: number;
  batch: number;
}

/** One batch as it was stored, by whom. */
export interface StoredBatch {
  readonly epoch: number;
  readonly incarnation: string;
  readonly batch: Batch;
}

const givesUpMs = 2500;

/** The database that members share, as PostgreSQL answers them: its clock decides, every statement is whole. */
export class SimCluster {
  readonly log: StoredBatch[] = [];
  readonly orders: OperatorOrder[] = [];
  readonly #clock: FakeClock;
  readonly #leaseMs: number;
  readonly #members = new Map<string, Member>();
  #slot = { epoch: 0, incarnation: '' };

  constructor(clock: FakeClock, leaseMs: number) {
    this.#clock = clock;
    this.#leaseMs = leaseMs;
  }

  get epoch(): number {
    return this.#slot.epoch;
  }

  /** The database as the process at the end of this line sees it. */
  at(line: Line): Cluster {
    const ask = <T>(work: () => T, kind: StorageError['kind'] = 'other') => this.#ask(line, work, kind);
    return {
      open: () => ask(() => undefined),
      look: () => ask(() => this.#look()),
      join: (card) =>
        ask(() => void this.#members.set(card.incarnation, { card, expiresAt: this.#leaseEnd(), batch: 0 })),
      renew: (card) => ask(() => this.#renew(card)),
      claim: (incarnation, after) => ask(() => this.#claim(incarnation, after)),
      leave: (incarnation) =>
        ask(() => {
          this.#members.delete(incarnation);
          if (this.#slot.incarnation === incarnation) this.#slot.incarnation = '';
        }),
      store: (owner) => this.#storeOf(owner, ask),
      reader: { ...emptyReader, load: () => ask(() => nothingStored), backup: async () => undefined },
      leaveOrder: async (order) => void this.orders.push(order),
      close: async () => undefined,
    };
  }

  #storeOf(
    { incarnation, epoch }: { readonly incarnation: string; readonly epoch: number },
    ask: <T>(work: () => T, kind?: StorageError['kind']) => Promise<T>,
  ): Store {
    let stored = 0;
    let unsure: Batch | null = null;
    const write = (batch: Batch): void => {
      const member = this.#members.get(incarnation);
      if (this.#slot.epoch !== epoch || this.#slot.incarnation !== incarnation || member === undefined)
        throw new StorageError('fenced', 'simulated: another owns the accounts');
      if (member.batch === stored + 1) return;
      member.batch = stored + 1;
      this.log.push({ epoch, incarnation, batch });
    };
    return {
      ...emptyReader,
      backup: async () => undefined,
      takeOrders: () => ask(() => this.orders.splice(0)),
      prune: async () => false,
      commit: async (batch) => {
        if (unsure !== null && unsure !== batch) throw new Error('another batch while one is unknown');
        try {
          await ask(() => write(batch), 'unknown');
        } catch (error) {
          if (error instanceof StorageError && error.kind === 'unknown') unsure = batch;
          throw error;
        }
        unsure = null;
        stored += 1;
      },
    };
  }

  async #ask<T>(line: Line, work: () => T, kind: StorageError['kind']): Promise<T> {
    if (line.cut) {
      await this.#wait(givesUpMs);
      throw new StorageError('other', 'simulated: the database cannot be reached');
    }
    await this.#wait(line.latencyMs);
    // What was sent before the line was cut may still arrive.
    const answer = work();
    if (line.losesAnswer()) {
      await this.#wait(givesUpMs);
      throw new StorageError(kind, 'simulated: no answer');
    }
    await this.#wait(line.latencyMs);
    if (!line.cut) return answer;
    await this.#wait(givesUpMs);
    throw new StorageError(kind, 'simulated: no answer');
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.#clock.setTimer(ms, resolve));
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
    if (renewed && member !== undefined) member.expiresAt = this.#leaseEnd();
    return { ...this.#look(), renewed };
  }

  #claim(incarnation: string, after: number | undefined): number | null {
    if (after !== undefined && this.#slot.epoch !== after) return null;
    if (this.#lives(this.#slot.incarnation) || !this.#lives(incarnation)) return null;
    this.#slot = { epoch: this.#slot.epoch + 1, incarnation };
    return this.#slot.epoch;
  }

  #look(): ClusterLook {
    const { epoch, incarnation } = this.#slot;
    return {
      databaseNow: this.#clock.now(),
      epoch,
      owner: this.#lives(incarnation) ? incarnation : null,
      batch: this.#members.get(incarnation)?.batch ?? null,
      members: [...this.#members.values()]
        .filter(({ card }) => this.#lives(card.incarnation))
        .map(({ card, expiresAt }) => ({ ...card, expiresAt, program: 'lowwater test' })),
    };
  }
}
