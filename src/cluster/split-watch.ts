import type { ClusterMember, DatabaseOrigin, PeerAnswer } from '../ports/cluster.ts';
import type { DatabaseLink } from './database-link.ts';
import type { MembershipDependencies } from './membership-dependencies.ts';

type SplitDependencies = Pick<MembershipDependencies, 'clock' | 'leaseMs' | 'askPeers'>;

/** A daemon that owns the accounts on another server, and which server that is. */
type Rival = PeerAnswer & { readonly origin: DatabaseOrigin };

/**
 * Finds out whether two servers take writes, each with an owner of its own: who is no member here any more, and answers at its address
 * that it owns the accounts, does so somewhere else. Asked once a lease, by who owns the accounts and by who could.
 */
export class SplitWatch {
  readonly #dependencies: SplitDependencies;
  #askedAt = Number.NEGATIVE_INFINITY;
  #rival: Rival | null = null;

  constructor(dependencies: SplitDependencies) {
    this.#dependencies = dependencies;
  }

  /** `address`: this process's own. */
  observe(link: DatabaseLink, address: string | null): void {
    const { clock, leaseMs } = this.#dependencies;
    const now = clock.monotonic();
    if (link.look?.origin == null || now - this.#askedAt < leaseMs) return;
    this.#askedAt = now;
    const living = new Set(link.look.members.map(({ advertise }) => advertise));
    const absent = link.peersBeside(address).filter(({ advertise }) => !living.has(advertise));
    if (absent.length === 0) this.#rival = null;
    else void this.#ask(link, absent);
  }

  async #ask(link: DatabaseLink, absent: readonly ClusterMember[]): Promise<void> {
    const answers = await this.#dependencies.askPeers(absent);
    const own = link.look?.origin;
    const rivals = answers.flatMap((answer) => {
      const { origin } = answer;
      const isElsewhere =
        origin !== null && (origin.system !== own?.system || origin.timeline !== own.timeline);
      return answer.owns && isElsewhere ? [{ ...answer, origin }] : [];
    });
    this.#rival = rivals.toSorted((left, right) => right.origin.timeline - left.origin.timeline)[0] ?? null;
  }

  /** What is the case, as a sentence; null where no other owner is known. */
  describe(link: DatabaseLink): string | null {
    const own = link.look?.origin;
    if (this.#rival === null || own == null) return null;
    const { node, origin } = this.#rival;
    const where =
      origin.system === own.system
        ? `on timeline ${origin.timeline}, this one is on ${own.timeline}`
        : 'of another origin';
    return `two database servers take writes: ${node} owns the accounts on one ${where}`;
  }

  /** The node that owns the accounts on the newer history of this database; null where there is none. */
  newerOwner(link: DatabaseLink): string | null {
    const own = link.look?.origin;
    if (this.#rival === null || own == null) return null;
    const { node, origin } = this.#rival;
    return origin.system === own.system && origin.timeline > own.timeline ? node : null;
  }
}
