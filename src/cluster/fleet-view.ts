import type { ClusterLook, ClusterMember, MemberCard } from '../ports/cluster.ts';
import { ConfigurationWatch } from './configuration-watch.ts';
import { compareLooks } from './database-history.ts';
import { DatabaseLink } from './database-link.ts';
import { FleetPolling } from './fleet-polling.ts';
import type { MembershipDependencies } from './membership-dependencies.ts';
import { NameWatch } from './name-watch.ts';
import { SplitWatch } from './split-watch.ts';

/** After so many leases in which nobody polled, who reaches the database takes the accounts, even in doubt. */
const leasesUntilDoubt = 2;

type FleetDependencies = Pick<MembershipDependencies, 'cluster' | 'clock' | 'log' | 'leaseMs' | 'askPeers'>;

/** What a process knows of those that share its database and of the database itself, and whether it may take the accounts by that. */
export class FleetView {
  readonly link: DatabaseLink;
  readonly polling: FleetPolling;
  readonly names = new NameWatch();
  readonly configurations: ConfigurationWatch;
  readonly #dependencies: FleetDependencies;
  readonly #split: SplitWatch;
  #lastOwner: ClusterMember | null = null;
  /** It gave the accounts away, or could not load them, and lets others take them first. */
  #claimsFrom = Number.NEGATIVE_INFINITY;

  constructor(dependencies: FleetDependencies) {
    const { clock, cluster, log } = dependencies;
    this.#dependencies = dependencies;
    this.link = new DatabaseLink(log);
    this.polling = new FleetPolling(clock);
    this.configurations = new ConfigurationWatch(cluster);
    this.#split = new SplitWatch(dependencies);
  }

  /** Who owned the accounts when that was last known, be it this process. */
  get lastOwner(): ClusterMember | null {
    return this.#lastOwner;
  }

  /** A look of the member of this card; `wallNow` as for the link. Gives what happened to the database, if anything did. */
  heard(
    look: ClusterLook,
    { card, wallNow }: { readonly card: MemberCard; readonly wallNow: number },
  ): string | null {
    const before = this.link.look;
    this.link.heard(look, { incarnation: card.incarnation, wallNow });
    this.#lastOwner = this.link.owner ?? this.#lastOwner;
    this.configurations.observe(look, this.#dependencies.clock.monotonic());
    this.names.observe(look, card);
    // Who stands by beside an owner has nothing to decide by it.
    if (look.owner === null || look.owner === card.incarnation)
      this.#split.observe(this.link, card.advertise);
    const happened = compareLooks(before, look);
    if (happened !== null) this.#dependencies.log.warn({ origin: look.origin, epoch: look.epoch }, happened);
    return happened;
  }

  notePolling({ holds, owns }: { readonly holds: boolean; readonly owns: boolean }): void {
    this.polling.observe(this.link, { holds, owns, elsewhere: this.newerOwner });
  }

  /** What is the case where two servers take writes; null where that is not known. */
  get split(): string | null {
    return this.#split.describe(this.link);
  }

  /** The node that owns the accounts on a newer history of this database, on another server; null where there is none. */
  get newerOwner(): string | null {
    return this.#split.newerOwner(this.link);
  }

  /** Whether nobody has polled for so long that alive and able to poll is enough. */
  get isDoubtful(): boolean {
    return this.polling.blindForMs >= leasesUntilDoubt * this.#dependencies.leaseMs;
  }

  get mayClaim(): boolean {
    if (this.isDoubtful) return true;
    if (this.newerOwner !== null || this.link.isClockOff) return false;
    return this.#dependencies.clock.monotonic() >= this.#claimsFrom;
  }

  letOthersClaim(): void {
    const { clock, leaseMs } = this.#dependencies;
    this.#claimsFrom = clock.monotonic() + leaseMs;
  }

  /** Others had their turn: what they give away is anybody's again. */
  claimAgain(): void {
    this.#claimsFrom = Number.NEGATIVE_INFINITY;
  }
}
