import { StorageError } from '../../src/domain/operator-error.ts';
import type { Batch, Store } from '../../src/ports/store.ts';
import { asStoreFile, type SqliteStore } from '../../src/store/sqlite/port.ts';
import type { Fleet } from './fleet.ts';
import type { Life, OwnerSpan } from './life.ts';
import type { Machine } from './machine.ts';
import type { Observer } from './observer.ts';
import type { Scenario } from './scenario.ts';
import type { World } from './world.ts';

/** A client of the database gives up after so long. */
const givesUpMs = 2500;

interface Parts {
  readonly scenario: Scenario;
  readonly world: World;
  readonly observer: Observer;
  readonly fleet: Fleet;
}

/** The way between the processes of a machine and their database, its own or the one that it shares, and what happens on it. */
export class DistantDatabase {
  readonly #machine: Machine;
  readonly #scenario: Scenario;
  readonly #world: World;
  readonly #observer: Observer;
  readonly #fleet: Fleet;

  constructor(machine: Machine, { scenario, world, observer, fleet }: Parts) {
    this.#machine = machine;
    this.#scenario = scenario;
    this.#world = world;
    this.#observer = observer;
    this.#fleet = fleet;
  }

  /**
   * The real store as if it were far away: what it is asked takes its time, the process may be killed meanwhile, and the answer
   * may be lost. A dead process writes nothing.
   */
  guard(life: Life, database: SqliteStore): Store {
    let unsettled: Batch | null = null;
    let seen: Batch | null = null;
    const commit = (batch: Batch): void => {
      try {
        database.commit(batch);
      } catch (error) {
        if (error instanceof StorageError) this.#observer.committed(batch, false);
        throw error;
      }
      this.#observer.committed(batch, true);
    };
    return {
      ...asStoreFile(database),
      takeDamaged: () => database.takeDamaged(),
      takeUnstored: async () => new Map(),
      commit: async (batch) => {
        if (life.call()) return never();
        const isRepeated = unsettled === batch;
        // While somebody keeps the database locked the same is tried again and again.
        if (seen !== batch) this.#observer.beforeCommit(batch);
        seen = batch;
        await this.travel(life);
        if (life.commitDoom?.when === 'before') {
          life.strike(life.commitDoom.downMs);
          return never();
        }
        if (!isRepeated) commit(batch);
        unsettled = null;
        if (life.commitDoom !== null) {
          life.strike(life.commitDoom.downMs);
          return never();
        }
        await this.travel(life);
        const isLost = this.#world.losesAnswer(this.#machine.queue.now);
        if (isLost || isRepeated) this.#observer.commitAnswered(!isLost);
        if (!isLost) return;
        unsettled = batch;
        throw new StorageError('unknown', 'simulated: the answer was lost');
      },
      takeOrders: async () => {
        if (life.call()) return never();
        await this.travel(life);
        const orders = database.takeOrders();
        await this.travel(life);
        return orders;
      },
      prune: async (olderThan) => (life.call() ? never() : database.prune(olderThan)),
      close: async () => undefined,
    };
  }

  /** One way between the process and its database. */
  travel(life: Life, ms: number = this.#scenario.storeMs): Promise<void> | undefined {
    return ms === 0 ? undefined : new Promise((resolve) => life.deliver(ms, resolve));
  }

  /**
   * Lets the shared database do something, if it can be reached. Of what takes so long in reality `pace` times that passes. What was sent
   * arrives also when the process stands still by then.
   */
  async ask<T>(
    life: Life,
    work: () => T,
    {
      kind = 'other',
      pace,
      unheard = false,
    }: {
      readonly kind: StorageError['kind'] | undefined;
      readonly pace: number;
      readonly unheard?: boolean;
    },
  ): Promise<T> {
    if (life.call()) return never();
    const { line } = this.#machine;
    if (line.cut > 0) {
      await this.travel(life, givesUpMs * pace);
      throw new StorageError('other', 'simulated: the database cannot be reached');
    }
    const wayMs = (line.slow > 0 ? 1100 : this.#scenario.storeMs) * pace;
    await new Promise<void>((resolve) => {
      this.#machine.queue.at(this.#machine.queue.now + wayMs, () => {
        resolve();
      });
    });
    if (life.dead) return never();
    const arrives = line.cut === 0;
    const answer = arrives ? attempt(work) : null;
    if (life.dead) return never();
    const isLost = this.#world.losesAnswer(this.#machine.queue.now, unheard || line.deaf > 0);
    if (answer === null || line.cut > 0 || isLost) {
      await this.travel(life, givesUpMs * pace);
      throw new StorageError(kind, 'simulated: no answer');
    }
    await this.travel(life, wayMs);
    return answer();
  }

  /** The shared database stores a batch. */
  write(
    life: Life,
    span: OwnerSpan,
    { batch, writer }: { readonly batch: Batch; readonly writer: SqliteStore },
  ): void {
    // What arrives after its sender let go might as well have been lost on its way.
    if (!span.watched) throw new StorageError('other', 'simulated: lost');
    const { commitDoom } = life;
    if (commitDoom?.when === 'before') {
      life.strike(commitDoom.downMs);
      throw new StorageError('other', 'simulated: the process is gone');
    }
    writer.commit(batch);
    if (this.#fleet.stored(batch)) this.#machine.observe(span, (it) => it.committed(batch, true));
    if (commitDoom !== null) life.strike(commitDoom.downMs);
  }

  /** Tells the model what becomes of the batches that a daemon has stored in the shared database. */
  watch(span: OwnerSpan, store: Store): Store {
    let seen: Batch | null = null;
    return {
      ...store,
      takeUnstored: async () => this.#fleet.left.notes,
      commit: async (batch) => {
        const isRepeated = span.unsettled === batch;
        if (seen !== batch) this.#machine.observe(span, (it) => it.beforeCommit(batch));
        seen = batch;
        try {
          await store.commit(batch);
        } catch (error) {
          if (!(error instanceof StorageError)) throw error;
          if (error.kind === 'unknown') span.unsettled = batch;
          span.failingSince ??= this.#machine.queue.now;
          this.#machine.observe(span, (it) =>
            error.kind === 'unknown' ? it.commitAnswered(false) : it.committed(batch, false),
          );
          if (!this.#machine.mayNotifyUnpersisted(span)) this.#machine.observe(span, (it) => it.heldBack());
          throw error;
        }
        span.unsettled = null;
        span.failingSince = null;
        if (isRepeated) this.#machine.observe(span, (it) => it.commitAnswered(true));
      },
    };
  }
}

/** What came of it: to be given, or to be thrown, when it arrives. */
function attempt<T>(work: () => T): () => T {
  try {
    const value = work();
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

/** What a process that is gone never hears of. */
function never<T>(): Promise<T> {
  return new Promise(() => undefined);
}
