import { StorageError } from '../domain/operator-error.ts';
import { batchReturned, batchStored, changedOnlyReadings, isAllTaken, takeBatch } from '../engine/batch.ts';
import type { MonitorState } from '../engine/state.ts';
import type { Clock } from '../ports/clock.ts';
import type { Batch, Store } from '../ports/store.ts';
import type { Claim } from './dispatcher.ts';

/** A notification that thousands of alerts join is not written for each of them. Claims and backoffs never wait. */
const gatherMs = 100;
/** Readings gather this long, because each commit waits for the disk. A crash loses only these, and the next poll replaces them … */
const gatherReadingsMs = 500;
/** … unless there are so many that writing them would delay the next polls. */
const maxGathered = 500;
const retryMs = 2000;
/** While another process locks the database, the batch is tried again soon, then less often … */
const busyPausesMs = { first: 25, longest: 200 };
/** … and for this long without counting as a failure: an order that the command line leaves takes milliseconds. */
const patienceMs = 5000;

type Waiting = (isAttempted: boolean) => void;

interface CommitterDependencies {
  readonly state: MonitorState;
  readonly store: Store;
  readonly clock: Clock;
  /** Called after each attempt with the claims of its batch, whether it was stored or not. */
  readonly committed: (failure: StorageError | null, claims: readonly Claim[]) => void;
}

/**
 * Writes what changed, in one transaction for everything that changed at about the same time (group commit). Changes made during
 * a commit gather for the next one; nothing else of the daemon writes meanwhile. While the database cannot be
 * written, changes stay in memory and the daemon works on from there.
 */
export class Committer {
  readonly #parts: CommitterDependencies;
  /** Claims of the next batch: they are sent once it is stored. */
  #claims: Claim[] = [];
  #waiting: Waiting[] = [];
  /** Callers that wait for the running batch. */
  #attempting: Waiting[] = [];
  /** Work that waits for exclusive use of the store, in the order in which it asked. */
  readonly #line: (() => Promise<void>)[] = [];
  #busy = false;
  /** A batch that may or may not be stored: it is sent again unchanged until its end is known. */
  #unsettled: Batch | null = null;
  #cancel: (() => void) | null = null;
  #armedMs = Number.POSITIVE_INFINITY;
  #failing = false;
  /** An instant of the monotonic clock. */
  #alertsWrittenAt = Number.NEGATIVE_INFINITY;
  #stopped = false;

  constructor(parts: CommitterDependencies) {
    this.#parts = parts;
  }

  get failing(): boolean {
    return this.#failing;
  }

  /** Makes sure that changes are written soon; at once where there are claims. */
  schedule(claims: readonly Claim[] = []): void {
    this.#claims.push(...claims);
    if (this.#stopped || this.#busy) return;
    const delayMs = this.#delay();
    if (delayMs >= this.#armedMs) return;
    this.#cancel?.();
    this.#armedMs = delayMs;
    this.#cancel = this.#parts.clock.setTimer(delayMs, () => void this.flush());
  }

  /** Releases everyone who waits: the database is about to be closed, or another daemon owns it. */
  stop(): void {
    this.#disarm();
    this.#stopped = true;
    for (const give of [...this.#attempting, ...this.#waiting.splice(0)]) give(false);
  }

  /** Writes right after the running batch. Gives whether there was an attempt: there is none once another daemon owns the accounts. */
  flush(): Promise<boolean> {
    this.#disarm();
    if (this.#stopped) return Promise.resolve(false);
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#goOn();
    });
  }

  /** Writes all changes, in as many batches as that takes. Failures are tried again until `until`, an instant of the monotonic clock. */
  async flushAll(until: number): Promise<void> {
    const { clock, state } = this.#parts;
    while ((await this.flush()) && (this.#failing || !isAllTaken(state))) {
      if (!this.#failing) continue;
      if (clock.monotonic() + busyPausesMs.longest >= until) return;
      await new Promise<void>((resolve) => clock.setTimer(busyPausesMs.longest, resolve));
    }
  }

  /** Resolves to whether everything except plain readings is stored: true once it is, false when it cannot be for now. */
  async storeChanges(): Promise<boolean> {
    if (this.#failing) return false;
    const isStored = !this.#busy && changedOnlyReadings(this.#parts.state);
    return isStored || ((await this.flush()) && !this.#failing);
  }

  /** Gives the work exclusive use of the store. An error that it throws ends the process. */
  alone(work: () => Promise<void>): void {
    this.#line.push(work);
    this.#goOn();
  }

  #goOn(): void {
    if (this.#busy || this.#stopped) return;
    const work = this.#line.shift() ?? (this.#waiting.length > 0 ? () => this.#write() : null);
    if (work === null) return;
    this.#busy = true;
    void this.#run(work);
  }

  async #run(work: () => Promise<void>): Promise<void> {
    await work();
    this.#busy = false;
    this.#goOn();
    this.schedule();
  }

  #disarm(): void {
    this.#cancel?.();
    this.#cancel = null;
    this.#armedMs = Number.POSITIVE_INFINITY;
  }

  #delay(): number {
    const { state } = this.#parts;
    if (this.#claims.length > 0) return 0;
    if (isAllTaken(state) && this.#unsettled === null) return Number.POSITIVE_INFINITY;
    if (this.#failing) return retryMs;
    const beganToWait = state.polls.urgent || state.backoffs.unsaved.size > 0;
    const gathered = Math.max(state.polls.size, state.polled.unsaved.size);
    if (beganToWait || gathered >= maxGathered) return 0;
    if (changedOnlyReadings(state)) return gatherReadingsMs;
    const sinceMs = this.#parts.clock.monotonic() - this.#alertsWrittenAt;
    return Math.max(0, Math.ceil(gatherMs - sinceMs));
  }

  async #write(): Promise<void> {
    const claims = this.#claims;
    const waiting = this.#waiting;
    this.#attempting = waiting;
    this.#claims = [];
    this.#waiting = [];
    const failure = (await this.#commit(this.#unsettled)) ?? (await this.#commit(this.#takeBatch()));
    this.#failing = failure !== null;
    this.#parts.committed(failure, claims);
    for (const give of waiting) give(failure?.kind !== 'fenced');
  }

  #takeBatch(): Batch | null {
    const { state, clock } = this.#parts;
    if (!changedOnlyReadings(state)) this.#alertsWrittenAt = clock.monotonic();
    return takeBatch(state);
  }

  async #commit(batch: Batch | null): Promise<StorageError | null> {
    if (batch === null) return null;
    const { state } = this.#parts;
    try {
      await this.#commitWhenFree(batch);
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      if (error.kind === 'unknown') this.#unsettled = batch;
      if (this.#unsettled === null) batchReturned(state);
      return error;
    }
    this.#unsettled = null;
    batchStored(state, batch);
    return null;
  }

  async #commitWhenFree(batch: Batch): Promise<void> {
    const { store, clock } = this.#parts;
    const until = clock.monotonic() + (this.#failing ? 0 : patienceMs);
    for (let pauseMs = busyPausesMs.first; ; pauseMs = Math.min(2 * pauseMs, busyPausesMs.longest)) {
      try {
        return await store.commit(batch);
      } catch (error) {
        const busy = error instanceof StorageError && error.kind === 'busy';
        if (!busy || this.#stopped || clock.monotonic() >= until) throw error;
      }
      await new Promise<void>((resolve) => clock.setTimer(pauseMs, resolve));
    }
  }
}
