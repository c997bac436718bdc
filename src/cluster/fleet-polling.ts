import type { ClusterPolling } from '../ports/cluster.ts';

/** Who polls, and since when that is so by this machine's wall clock. */
export class FleetPolling {
  readonly #now: () => number;
  #known: ClusterPolling;

  constructor(now: () => number) {
    this.#now = now;
    this.#known = { who: 'unknown', node: null, since: now() };
  }

  get known(): ClusterPolling {
    return this.#known;
  }

  note(who: ClusterPolling['who'], node: string | null = null): void {
    if (this.#known.who === who && this.#known.node === node) return;
    this.#known = { who, node, since: this.#now() };
  }
}
