import type { Batch } from '../ports/store.ts';

type Polls = Batch['polls'];

/**
 * While the database cannot be written, older polls are dropped so that memory does not fill; alerts never
 * are.
 */
const maxKept = 50_000;

/** Polls to be stored, oldest first. Taken and put back as in `Unsaved`. */
export class PollNotes {
  #polls: Polls[number][] = [];
  #taken: Polls = [];
  #urgent = false;

  get size(): number {
    return this.#polls.length;
  }

  get urgent(): boolean {
    return this.#urgent;
  }

  get allStored(): boolean {
    return this.#polls.length === 0 && this.#taken.length === 0;
  }

  add(poll: Polls[number]): void {
    this.#polls.push(poll);
    // A refused key makes its account wait: a crash must not forget that.
    this.#urgent ||= poll.poll.outcome === 'auth_failed';
    this.#keepNewest();
  }

  /** Somebody waits until they are stored. */
  hurry(): void {
    this.#urgent = true;
  }

  /** All of them, or the oldest `most`. */
  take(most = Number.POSITIVE_INFINITY): Polls {
    if (this.#taken.length > 0) throw new Error('polls were taken before the last batch ended');
    this.#taken = this.#polls.slice(0, most);
    this.#polls = this.#polls.slice(most);
    this.#urgent &&= this.#polls.length > 0;
    return this.#taken;
  }

  stored(): void {
    this.#taken = [];
  }

  putBack(): void {
    this.#polls = [...this.#taken, ...this.#polls];
    this.#taken = [];
    this.#keepNewest();
  }

  #keepNewest(): void {
    if (this.#polls.length > maxKept) this.#polls.splice(0, this.#polls.length - maxKept);
  }
}
