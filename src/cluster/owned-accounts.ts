import { onStorageError } from '../domain/operator-error.ts';
import type { MonitorState } from '../engine/state.ts';
import type { ClusterLook, ClusterMember } from '../ports/cluster.ts';
import type { Instant, OwnLease } from './held-lease.ts';
import { LeaderStore } from './leader-store.ts';
import type { MembershipDependencies } from './membership-dependencies.ts';

type OwnedDependencies = Pick<
  MembershipDependencies,
  'cluster' | 'clock' | 'log' | 'leaseMs' | 'aloneForMs' | 'askPeers' | 'restore'
>;

type Verdict =
  | { readonly kind: 'keep' }
  /** Its lease is over, or the database lost what it had stored, and nobody has taken them since: as the member that it is, or as a new one. */
  | { readonly kind: 'regain' | 'rejoin' | 'restore' }
  | { readonly kind: 'lose'; readonly why: string };

/** After a failure that may pass the load is tried again so soon. */
const retryMs = 250;

const keep: Verdict = { kind: 'keep' };
const lose = (why: string): Verdict => ({ kind: 'lose', why });

/**
 * The accounts in the hands of this process, from the moment that it took them.
 *
 * - loading → owner: all is read.
 * - owner → alone: its lease is over and nobody reaches the database. alone → owner: the epoch is still the same when the database is
 *   back, so that nobody wrote since: it goes on as a new incarnation with what it has in memory.
 */
export class OwnedAccounts {
  readonly store: LeaderStore;
  /** What it began without, because it could not be read, as a clause. */
  unreadable: string | null = null;
  phase: 'loading' | 'owner' | 'alone' = 'loading';
  readonly #dependencies: OwnedDependencies;
  readonly #lease: OwnLease;
  readonly #lost: (why: string) => void;
  #seat: { readonly incarnation: string; readonly epoch: number };
  #aloneSince = 0;
  /** A change was refused, and why is not known yet. */
  #isRefused = false;

  /** `lost` is called when a change was refused because another owns the accounts, before anybody hears of that. */
  constructor(
    dependencies: OwnedDependencies,
    lease: OwnLease,
    seat: { readonly incarnation: string; readonly epoch: number },
    lost: (why: string) => void,
  ) {
    const { cluster, clock } = dependencies;
    this.#dependencies = dependencies;
    this.#lease = lease;
    this.#lost = lost;
    this.#seat = seat;
    this.store = new LeaderStore({
      store: cluster.store(seat),
      reader: cluster.reader,
      monotonic: () => clock.monotonic(),
      refused: () => this.#lookWhetherOvertaken(),
    });
  }

  get holds(): boolean {
    if (this.#isRefused) return false;
    return this.phase === 'alone' || (this.phase === 'owner' && this.#lease.lasts);
  }

  /** Whether nobody else can take the accounts, though it does not store what it does. */
  get mayActUnpersisted(): boolean {
    return this.phase === 'alone' || (this.store.failingForMs ?? 0) >= this.#dependencies.leaseMs;
  }

  /** Rejects with `StorageError` where what is stored cannot be read, unless it is lenient: what cannot be read is left out then. `before`: who owned the accounts last. */
  async load(isLenient: boolean, before: ClusterMember | null): Promise<MonitorState> {
    const { clock, cluster, log, restore } = this.#dependencies;
    // For one lost answer the accounts would be nobody's as long as the lease lasts.
    const goOn = async (): Promise<boolean> => {
      await new Promise<void>((resolve) => clock.setTimer(retryMs, resolve));
      return this.#lease.lasts;
    };
    const stored = await cluster.load({ goOn, isLenient });
    const { damagedRecords = [] } = stored;
    for (const { source, key, reason } of damagedRecords)
      log.error({ source, key, reason }, 'a stored record cannot be read and is set aside');
    if (damagedRecords.length > 0) await cluster.setAside(this.#seat, damagedRecords);
    const tables = damagedRecords.filter(({ body }) => body === null).map(({ source }) => source);
    if (tables.length > 0) this.unreadable = `nothing can be read of the tables ${tables.join(', ')}`;
    return restore(stored, before);
  }

  /** What the database says to who owns, or owned. `storedBefore`: known to be stored when the look was sent. */
  judge(
    look: ClusterLook & { readonly renewed: boolean },
    incarnation: string,
    storedBefore: number,
  ): Verdict {
    const isOwn = look.owner === incarnation;
    const isBehind = look.epoch === this.#seat.epoch && look.batch !== null && look.batch < storedBefore;
    if ((look.epoch < this.#seat.epoch || isBehind) && this.phase !== 'loading') {
      if (!isOwn && look.owner !== null)
        return lose('the database lost its last commits, and another daemon took the accounts');
      return { kind: look.renewed ? 'restore' : 'rejoin' };
    }
    this.#isRefused = false;
    if (isOwn && look.epoch === this.#seat.epoch) {
      // The renewals had arrived, and only their answers had not.
      if (this.phase === 'alone') this.phase = 'owner';
      return keep;
    }
    if (!isOwn && (look.owner !== null || look.epoch !== this.#seat.epoch))
      return lose('another daemon took the accounts');
    if (this.phase === 'loading') return lose('the lease ended before everything was read');
    return { kind: look.renewed ? 'regain' : 'rejoin' };
  }

  /**
   * Goes on with what it knows, as the incarnation that it is now. `restore`: the database lost what this owner had stored last; it stores it
   * again, under an epoch that nobody had.
   */
  async takeAgain(
    kind: 'regain' | 'restore',
    input: {
      readonly incarnation: string;
      readonly sentAt: Instant;
      readonly look: Pick<ClusterLook, 'owner' | 'epoch' | 'batch'>;
      readonly isCurrent: () => boolean;
    },
  ): Promise<void> {
    const { incarnation, sentAt, look, isCurrent } = input;
    const { cluster, log } = this.#dependencies;
    await this.store.continueWith(kind === 'regain', async () => {
      if (!isCurrent()) return null;
      const before = this.#seat.epoch;
      // It may have taken them though nobody heard of it.
      const isHeld = look.owner === incarnation;
      const condition = kind === 'regain' ? { after: before } : { above: before };
      const epoch = isHeld ? look.epoch : await cluster.claim(incarnation, condition);
      // Who was quicker, if anybody, is seen in the next look.
      if (epoch === null || !isCurrent()) return null;
      const lost = kind === 'regain' ? [] : await cluster.takeLost();
      this.#lease.countFrom(sentAt);
      this.#seat = { incarnation, epoch };
      this.phase = 'owner';
      this.#isRefused = false;
      if (kind === 'regain')
        log.info({ epoch }, 'the lease was over and nobody had taken the accounts: this daemon goes on');
      else
        log.warn(
          { epoch, commits: lost.length },
          'the database lost its last commits: this owner stores them again from memory',
        );
      return { store: cluster.store(this.#seat, isHeld ? (look.batch ?? 0) : 0), lost };
    });
  }

  /** A change was refused: because another took the accounts, or because the database does not know any more that this one did. */
  async #lookWhetherOvertaken(): Promise<void> {
    const { cluster } = this.#dependencies;
    const epoch = this.#seat.epoch;
    this.#isRefused = true;
    const look = await cluster.look().catch(onStorageError(null));
    if (look === null || this.#seat.epoch !== epoch) return;
    const isForeign = look.owner !== null && look.owner !== this.#seat.incarnation;
    if (look.epoch > epoch || isForeign) this.#lost('another daemon owns the accounts');
  }

  /** The database does not answer. `peers`: whom to ask whether they reach it. */
  async endure(peers: readonly ClusterMember[]): Promise<Verdict> {
    const { clock, log, aloneForMs, askPeers } = this.#dependencies;
    if (this.#lease.lasts) return keep;
    if (this.phase === 'loading') return lose('the lease ended before everything was read');
    const epoch = this.#seat.epoch;
    const isReached = (await askPeers(peers)).some(({ reachesDatabase }) => reachesDatabase);
    if (this.#seat.epoch !== epoch) return keep;
    if (isReached) return lose('another daemon reaches the database and this one does not');
    if (this.phase === 'owner') {
      this.phase = 'alone';
      this.#aloneSince = clock.monotonic();
      log.error({}, 'nobody reaches the database: this daemon goes on from memory');
    } else if (clock.monotonic() - this.#aloneSince > aloneForMs)
      return lose('nobody has reached the database for as long as this daemon may go on alone');
    return keep;
  }
}
