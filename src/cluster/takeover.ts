import { onStorageError, StorageError } from '../domain/operator-error.ts';
import type { ClusterLook, ClusterMember, MemberCard, Role } from '../ports/cluster.ts';
import { nothingStored } from '../views/empty-reader.ts';
import { createClaims } from './claims.ts';
import { clockOff, type KnownState } from './cluster-status.ts';
import type { FleetView } from './fleet-view.ts';
import type { OwnLease } from './held-lease.ts';
import type { MembershipDependencies } from './membership-dependencies.ts';
import { OwnedAccounts } from './owned-accounts.ts';
import type { createPauses } from './pauses.ts';
import type { Registration } from './registration.ts';

const ownsInDoubt = 'nobody could own the accounts: this daemon does, in doubt';

interface TakeoverParts {
  readonly lease: OwnLease;
  readonly fleet: FleetView;
  readonly registration: Registration;
  readonly pauses: ReturnType<typeof createPauses>;
}

/** Takes the accounts for this process, begins with what is stored of them, and lets go of them. */
export class Takeover {
  /** Null if this process neither has the accounts nor still knows of them. */
  owned: OwnedAccounts | null = null;
  standsBy = false;
  /** The daemon whose lease was over at the last look, and that had not given the accounts away. */
  lapsedOwner: string | null = null;
  /** Why it let go of the accounts before it could begin; null if it did not. */
  loadFailure: string | null = null;
  readonly claims: ReturnType<typeof createClaims>;
  readonly #dependencies: MembershipDependencies;
  readonly #parts: TakeoverParts;
  #takeovers = 0;

  constructor(dependencies: MembershipDependencies, parts: TakeoverParts) {
    this.#dependencies = dependencies;
    this.#parts = parts;
    this.claims = createClaims(dependencies);
  }

  get known(): Pick<KnownState, 'role' | 'takenUnder' | 'takeovers' | 'doubt' | 'loadFailure'> {
    return {
      role: this.#role,
      takenUnder: this.owned?.epoch ?? null,
      takeovers: this.#takeovers,
      doubt: this.#doubt ?? this.owned?.doubt ?? this.owned?.unreadable ?? null,
      loadFailure: this.loadFailure,
    };
  }

  get #role(): Role {
    const phase = this.owned?.phase ?? 'released';
    if (phase === 'released') return this.standsBy ? 'standby' : 'joining';
    return phase === 'giving' ? 'owner' : phase;
  }

  /** Why it owns the accounts though its clock is off; null if it does not own them, gives them away, or its clock is right. */
  get #doubt(): string | null {
    const { fleet, registration } = this.#parts;
    const { aheadMs, isClockSurelyOff, isClockLongOff } = fleet.link;
    const owns = this.owned !== null && this.owned.phase !== 'loading';
    const isGiven = !isClockLongOff && fleet.link.hasRightClockBeside(registration.card?.incarnation ?? '');
    return owns && isClockSurelyOff && !isGiven ? clockOff(this.#dependencies.card().node, aheadMs) : null;
  }

  async claim(card: MemberCard, { overdue }: ClusterLook): Promise<void> {
    const { incarnation } = card;
    this.standsBy = true;
    const epoch = await this.claims.ask(incarnation, { overdue });
    if (this.#parts.registration.card?.incarnation !== incarnation) return;
    if (epoch !== null) this.take(epoch);
    else if (this.owned === null) await this.ownInDoubt(card);
  }

  /** Acts although the accounts cannot be taken: nobody owns them, but a dead process or somebody keeps them locked, or the database refuses. */
  async ownInDoubt(card: MemberCard): Promise<void> {
    const { begin, log } = this.#dependencies;
    const { fleet } = this.#parts;
    if (!fleet.isDoubtful || fleet.pollingBeside(card).length > 0) return;
    if (await this.claims.endStuck()) return;
    const { why } = this.claims;
    const former = this.owned;
    const owned = former ?? this.#makeOwned('');
    owned.actInDoubt(why);
    if (former !== null) return log.error({ why }, ownsInDoubt);
    const state = await owned.load(true, fleet.lastOwner).catch(onStorageError(null));
    if (!this.#isPresent(owned)) return;
    if (state === null) return this.goBlind(why, owned);
    log.error({ why }, ownsInDoubt);
    begin({ store: owned.store.port, state, takenFrom: this.lapsedOwner });
  }

  take(epoch: number): void {
    const { fleet, registration } = this.#parts;
    if (this.owned !== null) this.#dependencies.abandon();
    const owned = this.#makeOwned(registration.card?.incarnation ?? '', epoch);
    this.#dependencies.log.info({ epoch }, 'this daemon takes the accounts');
    void this.#load(owned, fleet.lastOwner);
  }

  /** In any doubt, a living daemon polls: it polls what the configuration names, and notifies of what it sees. */
  async goBlind(why: string, owned = this.#makeOwned('')): Promise<void> {
    const { begin, log, restore } = this.#dependencies;
    owned.goBlind(why);
    const state = await restore(nothingStored, null);
    if (!this.#isPresent(owned) || !owned.isBlind) return;
    log.error({ why }, 'nobody polls: this daemon polls what its configuration names, in doubt');
    begin({ store: owned.store.port, state, takenFrom: null });
  }

  /** Called once this daemon acts: no channel would be notified before that. */
  notifyWhatHappened(): void {
    const { link } = this.#parts.fleet;
    if (this.owned === null || this.owned.phase === 'loading' || link.toNotify === null) return;
    this.#dependencies.happened?.(link.toNotify);
    link.toNotify = null;
  }

  /** Forgets everything. The next round begins as a new incarnation. */
  lose(why: string): void {
    const hadBegun = this.owned !== null && this.owned.phase !== 'loading';
    if (!hadBegun) this.loadFailure ??= why;
    this.#parts.registration.abandon();
    this.forget();
    this.#dependencies.log.warn({ why }, 'this daemon lets go of the accounts');
    if (hadBegun) this.#dependencies.abandon();
    this.#dependencies.looked?.();
  }

  forget(): void {
    this.owned?.store.goOn();
    this.owned = null;
    this.standsBy = false;
    this.#parts.lease.end();
  }

  #makeOwned(incarnation: string, epoch = this.#parts.fleet.link.look?.epoch ?? 0): OwnedAccounts {
    const ownership = { incarnation, epoch };
    const { lease } = this.#parts;
    const owned: OwnedAccounts = new OwnedAccounts(this.#dependencies, lease, ownership, (why) => {
      if (this.owned === owned) this.lose(why);
    });
    this.owned = owned;
    this.#takeovers += 1;
    return owned;
  }

  #isPresent(owned: OwnedAccounts): boolean {
    return this.owned === owned && !this.#parts.pauses.ended;
  }

  async #load(owned: OwnedAccounts, before: ClusterMember | null): Promise<void> {
    const { abandon, begin, log, looked } = this.#dependencies;
    const { fleet } = this.#parts;
    try {
      const state = await owned.load(fleet.isDoubtful, before);
      if (!this.#isPresent(owned)) return;
      if (owned.isBlind) abandon();
      owned.readAll();
      this.loadFailure = null;
      begin({ store: owned.store.port, state, takenFrom: this.lapsedOwner });
      if (fleet.link.isClockOff) log.error({ doubt: this.#doubt }, ownsInDoubt);
      looked?.();
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      if (this.owned === owned) await this.#couldNotLoad(owned, before, error);
    }
  }

  async #couldNotLoad(owned: OwnedAccounts, before: ClusterMember | null, why: StorageError): Promise<void> {
    const { clock, leaseMs } = this.#dependencies;
    const { fleet } = this.#parts;
    // A failure that the database reported has a cause. A failure to make sense of what was read has none.
    const isUnreadable = why.kind === 'corrupt' && why.cause === undefined;
    if ((isUnreadable || fleet.isDoubtful) && !owned.isBlind) await this.goBlind(why.message, owned);
    const loadAgain = () => void (this.#isPresent(owned) && this.#load(owned, before));
    if (owned.isBlind) return void clock.setTimer(leaseMs, loadAgain);
    this.loadFailure = `what is stored cannot be read: ${why.message}`;
    // Another daemon may be able to load. A next try here would go as this one did.
    fleet.letOthersClaim();
    this.lose(this.loadFailure);
  }
}
