import { onStorageError } from '../domain/operator-error.ts';
import { livedUntil } from '../engine/restore.ts';
import type { MonitorState } from '../engine/state.ts';
import type { Cluster, ClusterLook, ClusterMember } from '../ports/cluster.ts';
import type { Instant, OwnLease } from './held-lease.ts';
import { isBehind, judgeLook, keep, lose, type Phase, type Verdict } from './judge-look.ts';
import { LeaderStore } from './leader-store.ts';
import type { MembershipDependencies } from './membership-dependencies.ts';

/** The wait before loading is tried again after a failure that may pass. */
const retryMs = 250;

/**
 * The accounts in the hands of this process, from when it took them until it sees another epoch.
 *
 * - loading → owner: everything is read. The owner polls while its lease lasts.
 * - owner → giving: a person ordered a hand-over. What is known is stored, and nothing new begins. giving → released: the slot is free, and another
 *   daemon takes the accounts. If none does for a lease, this one takes them again: released → owner.
 * - owner, giving, released → alone: its lease is over, and no daemon that has the accounts answers. alone → owner: the epoch is unchanged when the
 *   database is back, so nobody wrote since. It goes on as a new incarnation with what it has in memory.
 * - loading → alone, blind: what is stored could not be read. It polls what the configuration names, and stores nothing over what it did
 *   not read. Once it can read that, it begins again from it.
 */
export class OwnedAccounts {
  readonly store: LeaderStore;
  /** The tables that could not be read, and without which it began, as a clause; null if there are none. */
  unreadable: string | null = null;
  /** Why it acts though it does not own the accounts, or could not read what is stored, as a clause. */
  doubt: string | null = null;
  /** Whether a hand-over is under way, from waiting for a taker to storing what is known: only one at a time (`handing-over.ts`). */
  isGivenAway = false;
  /** An instant of the wall clock. */
  readonly takenAt: number;
  readonly #dependencies: MembershipDependencies;
  readonly #lease: OwnLease;
  readonly #lost: (why: string) => void;
  #phase: Phase = 'loading';
  #phaseSince: number;
  #ownership: { readonly incarnation: string; readonly epoch: number };
  /** Whether a change was refused for a reason that is not known yet. */
  #isRefused = false;
  /** Since when another member that reaches the database could have taken the accounts but has not. */
  #cutOffSince: number | null = null;
  /** Since when every read of what is stored has failed. */
  #unreadSince: number | null = null;
  /** Whether the database was set back and its lost commits were not taken out yet. It may hold a claim of this owner whose answer was lost. */
  #isTakenBack = false;
  /** After the database was set back. `said`: others see that it will store again what it knows. `begun`: it has the accounts and is storing. */
  #storesAgain: 'said' | 'begun' | null = null;

  /** `lost` is called when a change was refused because another owns the accounts, before anybody hears of the refusal. */
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
    // A daemon that released the accounts does not write until it is known who owns them.
    if (phase === 'released') this.store.pause();
    else this.store.goOn();
  }

  get epoch(): number {
    return this.#ownership.epoch;
  }

  /** The incarnation that owns the accounts in the database: until they are taken again, the previous one. */
  get incarnation(): string {
    return this.#ownership.incarnation;
  }

  get isBlind(): boolean {
    return this.store.isBlind;
  }

  get mayPoll(): boolean {
    // A daemon that goes on from memory knows of no other owner, even if a change was refused before.
    return this.phase === 'alone' || (this.phase === 'owner' && this.#lease.lasts && !this.#isRefused);
  }

  /** Whether nobody else can take the accounts, though their owner stores nothing. */
  get mayActUnpersisted(): boolean {
    return this.phase === 'alone' || (this.store.failingForMs ?? 0) >= this.#dependencies.leaseMs;
  }

  /** Whether what is stored is what this daemon knows, as far as it can tell. */
  get stores(): boolean {
    return !this.mayActUnpersisted && this.#storesAgain === null;
  }

  /** For how long every read of what is stored has failed; 0 while reads succeed. */
  get unreadForMs(): number {
    return this.#unreadSince === null ? 0 : this.#dependencies.clock.monotonic() - this.#unreadSince;
  }

  /** Rejects with `StorageError` if what is stored cannot be read; if lenient, leaves that out. `before`: the last owner of the accounts. */
  async load(isLenient: boolean, before: ClusterMember | null): Promise<MonitorState> {
    const { clock, cluster, leaseMs, log, restore } = this.#dependencies;
    // Giving up after one lost answer would leave the accounts without an owner for the rest of the lease.
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
    // The last owner lived until its last renewal, however long ago it polled.
    return restore(livedUntil(stored, Math.min(clock.now(), before.expiresAt - leaseMs)), before);
  }

  /** From now on acts by the configuration alone, until what is stored can be read. */
  goBlind(why: string): void {
    this.store.isBlind = true;
    this.doubt = why;
    this.phase = 'alone';
  }

  /** Nobody can take the accounts: it acts by what is stored, and stores its own work once it has them. */
  actInDoubt(why: string): void {
    this.store.waitForAccounts();
    this.doubt = why;
    this.phase = 'alone';
  }

  /** Called once the stored state was read. */
  readAll(): void {
    this.store.isBlind = false;
    this.doubt = null;
    this.phase = 'owner';
  }

  /** Judges the database's answer to a present or former owner. `storedBefore`: the number of batches known to be stored when the look was sent. */
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
    // The renewals had arrived; only their answers were lost.
    if (verdict.kind === 'keep' && phase === 'alone' && !isBlind) this.phase = 'owner';
    return verdict;
  }

  /** Standbys must know that this owner will store again before they see the next epoch. True if that has still to be published. */
  willStoreAgain(): boolean {
    const isNew = this.#storesAgain === null;
    this.#storesAgain ??= 'said';
    return isNew;
  }

  /** `restore`: the database lost what this owner stored last. The owner stores it again, under an epoch that nobody had before. */
  async takeAgain(
    kind: 'regain' | 'restore',
    input: {
      readonly incarnation: string;
      readonly sentAt: Instant;
      readonly look: Pick<ClusterLook, 'owner' | 'epoch' | 'batch' | 'overdue'>;
      readonly isCurrent: () => boolean;
      /** Resolves to null if the accounts cannot be taken. */
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
      // An earlier claim may have succeeded although its answer was lost.
      const unheard = look.owner === incarnation ? look : null;
      const condition = { regain: { after: before }, restore: { above: before } }[kind];
      const epoch = unheard?.epoch ?? (await claim(incarnation, { ...condition, overdue: look.overdue }));
      // If another daemon was quicker, the next look shows it.
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
    // This owner's own commits, with their original times, come before the rest. Both take seconds, and the lease is renewed meanwhile.
    if (!wasTakenBack) return;
    this.#storesAgain = 'begun';
    void stored.then(takenBack).then(() => {
      this.#storesAgain = null;
    });
  }

  /** For an owner with a refused change or a lease that is over. It may still own the accounts: a database that lost its claim refuses too. */
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

  /** Decides what to do while the database does not answer. `peers`: daemons to ask whether they have the accounts or could take them. */
  async endure(peers: readonly ClusterMember[]): Promise<Verdict> {
    const { clock, log, leaseMs, aloneForMs, askPeers, card } = this.#dependencies;
    if (this.#lease.lasts) return keep;
    if (this.phase === 'loading') return lose('the lease ended before everything was read');
    const epoch = this.#ownership.epoch;
    const answers = await askPeers(peers);
    if (this.#ownership.epoch !== epoch) return keep;
    if (answers.some(({ takenUnder }) => takenUnder !== null && takenUnder > epoch))
      return lose('another daemon has the accounts and reaches the database, and this one does not');
    // Of several daemons that poll without knowing anything, one is enough.
    if (this.isBlind && answers.some(({ takenUnder, node }) => takenUnder !== null && node < card().node))
      return lose('another daemon polls as well, and has the accounts or the first name');
    const now = clock.monotonic();
    if (this.phase === 'alone')
      return now - this.#phaseSince > aloneForMs
        ? lose('nobody has reached the database for as long as this daemon may go on alone')
        : keep;
    if (answers.some(({ reachesDatabase }) => reachesDatabase)) this.#cutOffSince ??= now;
    else this.#cutOffSince = null;
    // A daemon that reaches the database takes the accounts within a lease, if it can.
    if (this.#cutOffSince !== null && now - this.#cutOffSince < leaseMs) return keep;
    this.phase = 'alone';
    log.error({}, 'nobody who has the accounts can be asked: this daemon goes on from memory');
    return keep;
  }
}
