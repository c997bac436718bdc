import type { Clock } from '../ports/clock.ts';
import type { ClusterPolling } from '../ports/cluster.ts';
import type { DatabaseLink } from './database-link.ts';

/** Who polls, and since when that is so by this machine's wall clock. */
export class FleetPolling {
  readonly #clock: Clock;
  #known: ClusterPolling;
  /** Since when nobody polls although the database answers; null where somebody does or that is not known. Monotonic. */
  #blindSince: number | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#known = { who: 'unknown', node: null, since: clock.now() };
  }

  get known(): ClusterPolling {
    return this.#known;
  }

  /** For how long nobody has polled although the database answers; 0 where somebody does or that is not known. */
  get blindForMs(): number {
    return this.#blindSince === null ? 0 : this.#clock.monotonic() - this.#blindSince;
  }

  /** `holds`: whether this process polls; `owns`: whether it has the accounts; `elsewhere`: the node that polls by another server. */
  observe(
    { look, owner, trouble }: DatabaseLink,
    {
      holds,
      owns,
      elsewhere,
    }: { readonly holds: boolean; readonly owns: boolean; readonly elsewhere: string | null },
  ): void {
    if (holds) this.#note('this');
    else if (elsewhere !== null) this.#note('other', elsewhere);
    else if (trouble !== null || look === null) this.#note('unknown');
    else if (!owns && owner !== null && owner.status?.polls !== false) this.#note('other', owner.node);
    else this.#note('nobody');
  }

  #note(who: ClusterPolling['who'], node: string | null = null): void {
    if (who !== 'nobody') this.#blindSince = null;
    else this.#blindSince ??= this.#clock.monotonic();
    if (this.#known.who === who && this.#known.node === node) return;
    this.#known = { who, node, since: this.#clock.now() };
  }
}
