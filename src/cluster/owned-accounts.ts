import { onStorageError } from '../domain/operator-error.ts';
import { livedUntil } from '../engine/restore.ts';
import type { MonitorState } from '../engine/state.ts';
import type { Cluster, ClusterLook, ClusterMember } from '../ports/cluster.ts';
import type { Instant, OwnLease } from './held-lease.ts';
import { isBehind, judgeLook, keep, lose, type Phase, type Verdict } from './judge-look.ts';
import { LeaderStore } from './leader-store.ts';
import type { MembershipDependencies } from './membership-dependencies.ts';

/** After a failure that may pass the load is tried again so soon. */
const retryMs = 250;

/**
 * The accounts in the hands of this process, from the moment that it took them until another epoch is seen.
 *
 * - loading → owner: all is read. Polls while its lease lasts.
 * - owner → giving: a person handed them over; what is known is stored, nothing new begins. giving → released: the slot is free, and another
 *   daemon takes them. Where none does for a lease, it takes them again: released → owner.
 * - owner, giving, released → alone: its lease is over and nobody who has them can be asked. alone → owner: the epoch is still the same when the
 *   database is back, so that nobody wrote since: it goes on as a new incarnation with what it has in memory.
 * - loading → alone, blind: what is stored could not be read. It polls what the configuration names, stores nothing over what it did
 *   not read, and begins again with that once it can.
 */
export class OwnedAccounts {
  readonly store: LeaderStore;
  /** The parts it began without, because they could not be read, as a clause. */
  unreadable: string | null = null;
  /** Why it acts though the accounts are not its own, or it could not read what is stored, as a clause. */
  doubt: string | null = null;
  /** Waits for who could take them, or stores what is known before it lets go: once at a time (`handing-over.ts`). */
  isGivenAway = false;
  /** An instant of the wall clock. */
  readonly takenAt: number;
  readonly #dependencies: MembershipDependencies;
  readonly #lease: OwnLease;
  readonly #lost: (why: string) => void;
  #phase: Phase = 'loading';
  #phaseSince: number;
  #ownership: { readonly incarnation: string; readonly epoch: number };
  /** A change was refused, and why is not known yet. */
  #isRefused = false;
  /** Since when a member that reaches the database might have taken the accounts, and has not. */
  #cutOffSince: number | null = null;
  /** Since when each read of what is stored has failed. */
  #unreadSince: number | null = null;
  /** The database was taken back to an earlier moment, and what it lost was not taken out yet: it may have the claim whose answer was lost. */
  #isTakenBack = false;
  /** The database was taken back: it has said that it is to store again what it knows, or took the accounts for that and is not through. */
  #storesAgain: 'said' | 'begun' | null = null;

  /** `lost` is called when a change was refused because another owns the accounts, before anybody hears of that. */
  constructor(
    dependencies: MembershipDependencies,
    lease: OwnLease,
    ownership: { readonly incarnation: string; readonly epoch: number },
    lost: (why: string) => void,
  ) {
    const { cluster, clock } = dependencies;
    this.#dependencies = dependencies;
    this.#lease = lease;
    this.#lost = lost;
    this.#ownership = ownership;
    this.takenAt = clock.now();
    this.#phaseSince = clock.monotonic();
    this.store = new LeaderStore({
      store: cluster.store(ownership),
      reader: cluster.reader,
      monotonic: () => clock.monotonic(),
      refused: () => {
        this.#isRefused = true;
        return this.lookWhetherOvertaken();
      },
    });
  }

  get phase(): Phase {
    return this.#phase;
  }

  set phase(phase: Phase) {
    if (phase === this.#phase) return;
    this.#phase = phase;
    this.#phaseSince = this.#dependencies.clock.monotonic();
    // A daemon that lets go writes no more before it is known whose they are.
    if (phase === 'released') this.store.pause();
    else this.store.goOn();
  }

  get epoch(): number {
    return this.#ownership.epoch;
  }

  /** Under which the accounts are this process's in the database: the one before, until it has taken them again. */
  get incarnation(): string {
    return this.#ownership.incarnation;
  }

  get isBlind(): boolean {
    return this.store.isBlind;
  }

  get mayPoll(): boolean {
    // A daemon that goes on from memory knows of nobody that has them, whatever was refused before.
    return this.phase === 'alone' || (this.phase === 'owner' && this.#lease.lasts && !this.#isRefused);
  }

  /** Whether nobody else can take the accounts, though it does not store what it does. */
  get mayActUnpersisted(): boolean {
    return this.phase === 'alone' || (this.store.failingForMs ?? 0) >= this.#dependencies.leaseMs;
  }

  /** True where what is stored is what it knows, as far as it knows that. */
  get stores(): boolean {
    return !this.mayActUnpersisted && this.#storesAgain === null;
  }

  /** For how long each read of what is stored has failed; 0 where it goes on. */
  get unreadForMs(): number {
    return this.#unreadSince === null ? 0 : this.#dependencies.clock.monotonic() - this.#unreadSince;
  }

  /** Rejects with `StorageError` where what is stored cannot be read, unless it is lenient: what cannot be read is left out then. `before`: who owned the accounts last. */
  async load(isLenient: boolean, before: ClusterMember | null): Promise<MonitorState> {
    const { clock, cluster, leaseMs, log, restore } = this.#dependencies;
    // For one lost answer the accounts would be nobody's as long as the lease lasts.
    const goOn = async (): Promise<boolean> => {
      this.#unreadSince ??= clock.monotonic();
      await new Promise<void>((resolve) => clock.setTimer(retryMs, resolve));
      return this.#lease.lasts;
    };
    const progressed = (): void => {
      this.#unreadSince = null;
    };
    const stored = await cluster.load({ goOn, progressed, isLenient });
    const { damagedRecords = [] } = stored;
    for (const { source, key, reason } of damagedRecords)
      log.error({ source, key, reason }, 'a stored record cannot be read and is set aside');
    if (damagedRecords.some(({ body }) => body !== null))
      await cluster.setAside(this.#ownership, damagedRecords);
    const tables = damagedRecords.filter(({ key }) => key === '').map(({ source }) => source);
    if (tables.length > 0) this.unreadable = `nothing can be read of the tables ${tables.join(', ')}`;
    if (before === null) return restore(stored, null);
    // It renewed its lease until it was lost, however long ago it polled.
    return restore(livedUntil(stored, Math.min(clock.now(), before.expiresAt - leaseMs)), before);
  }

  /** It acts by the configuration alone until it can read what is stored. */
  goBlind(why: string): void {
    this.store.isBlind = true;
    this.doubt = why;
    this.phase = 'alone';
  }

  /** Nobody can take the accounts: it acts by what is stored, and stores what it does once it has them. */
  actInDoubt(why: string): void {
    this.store.waitForAccounts();
    this.doubt = why;
    this.phase = 'alone';
  }

  /** The stored state has been read. */
  readAll(): void {
    this.store.isBlind = false;
    this.doubt = null;
    this.phase = 'owner';
  }

  /** The database's answer to a present or former owner. `storedBefore`: known to be stored when the look was sent. */
  judge(
    look: ClusterLook & { readonly renewed: boolean },
    incarnation: string,
    storedBefore: number,
  ): Verdict {
    const { clock, leaseMs } = this.#dependencies;
    const { phase, epoch, isBlind } = this;
    const waits = clock.monotonic() - this.#phaseSince < leaseMs;
    const standing = { phase, incarnation, epoch, stored: storedBefore, waits, isBlind };
    const verdict = judgeLook(standing, look);
    this.#cutOffSince = null;
    if (!isBehind(standing, look)) this.#isRefused = false;
    if (verdict.kind === 'keep' && this.#storesAgain === 'said') this.#storesAgain = null;
    // The renewals had arrived, and only their answers had not.
    if (verdict.kind === 'keep' && phase === 'alone' && !isBlind) this.phase = 'owner';
    return verdict;
  }

  /** Standbys are to know it before they see the next epoch. True where that is still to be said. */
  willStoreAgain(): boolean {
    const isNew = this.#storesAgain === null;
    this.#storesAgain ??= 'said';
    return isNew;
  }

  /** `restore`: the database lost what this owner stored last; it stores that again, under an epoch nobody had. */
  async takeAgain(
    kind: 'regain' | 'restore',
    input: {
      readonly incarnation: string;
      readonly sentAt: Instant;
      readonly look: Pick<ClusterLook, 'owner' | 'epoch' | 'batch' | 'overdue'>;
      readonly isCurrent: () => boolean;
      /** Null where they cannot be taken. */
      readonly claim: Cluster['claim'];
    },
  ): Promise<void> {
    const { incarnation, sentAt, look, isCurrent, claim } = input;
    const { cluster, log, takenBack } = this.#dependencies;
    let wasTakenBack = false;
    this.#isTakenBack ||= kind === 'restore';
    const { stored } = await this.store.continueWith(!this.#isTakenBack, async () => {
      if (!isCurrent()) return null;
      const before = this.#ownership.epoch;
      // It may have taken them though nobody heard of it.
      const unheard = look.owner === incarnation ? look : null;
      const condition = { regain: { after: before }, restore: { above: before } }[kind];
      const epoch = unheard?.epoch ?? (await claim(incarnation, { ...condition, overdue: look.overdue }));
      // The next look shows whether another was quicker.
      if (epoch === null || !isCurrent()) return null;
      const lost = this.#isTakenBack ? await cluster.takeLost() : [];
      this.#lease.countFrom(sentAt);
      this.#ownership = { incarnation, epoch };
      this.phase = 'owner';
      this.doubt = null;
      this.#isRefused = false;
      wasTakenBack = this.#isTakenBack;
      this.#isTakenBack = false;
      if (!wasTakenBack)
        log.info({ epoch }, 'the lease was over and nobody had taken the accounts: this daemon goes on');
      else
        log.warn(
          { epoch, commits: lost.length },
          'the database lost its last commits: this owner stores them again from memory',
        );
      return { store: cluster.store(this.#ownership, unheard?.batch ?? 0), lost };
    });
    // Its own commits are complete, with when they happened, before the rest. Both take seconds: the lease is renewed meanwhile.
    if (!wasTakenBack) return;
    this.#storesAgain = 'begun';
    void stored.then(takenBack).then(() => {
      this.#storesAgain = null;
    });
  }

  /** For an owner that was refused a change, or whose lease is over. It may still have the accounts: a database that lost its claim refuses too. */
  async lookWhetherOvertaken(): Promise<void> {
    const { cluster } = this.#dependencies;
    const epoch = this.#ownership.epoch;
    const look = await cluster.look().catch(onStorageError(null));
    if (look === null || this.#ownership.epoch !== epoch) return;
    const isForeign = look.owner !== null && look.owner !== this.#ownership.incarnation;
    // An older epoch is that of another server: the next round judges it.
    if (look.epoch > epoch || (look.epoch === epoch && isForeign))
      this.#lost('another daemon owns the accounts');
  }

  /** The database does not answer. `peers`: whom to ask whether they have the accounts, or could take them. */
  async endure(peers: readonly ClusterMember[]): Promise<Verdict> {
    const { clock, log, leaseMs, aloneForMs, askPeers, card } = this.#dependencies;
    if (this.#lease.lasts) return keep;
    if (this.phase === 'loading') return lose('the lease ended before everything was read');
    const epoch = this.#ownership.epoch;
    const answers = await askPeers(peers);
    if (this.#ownership.epoch !== epoch) return keep;
    if (answers.some(({ takenUnder }) => takenUnder !== null && takenUnder > epoch))
      return lose('another daemon has the accounts and reaches the database, and this one does not');
    // One is enough of several that poll without knowing anything.
    if (this.isBlind && answers.some(({ takenUnder, node }) => takenUnder !== null && node < card().node))
      return lose('another daemon polls as well, and has the accounts or the first name');
    const now = clock.monotonic();
    if (this.phase === 'alone')
      return now - this.#phaseSince > aloneForMs
        ? lose('nobody has reached the database for as long as this daemon may go on alone')
        : keep;
    if (answers.some(({ reachesDatabase }) => reachesDatabase)) this.#cutOffSince ??= now;
    else this.#cutOffSince = null;
    // A daemon that reaches the database takes them within a lease, if it can.
    if (this.#cutOffSince !== null && now - this.#cutOffSince < leaseMs) return keep;
    this.phase = 'alone';
    log.error({}, 'nobody who has the accounts can be asked: this daemon goes on from memory');
    return keep;
  }
}
