import type { HandOver } from '../domain/operator.ts';
import type { DatabaseLink } from './database-link.ts';
import type { MembershipDependencies } from './membership-dependencies.ts';
import type { OwnedAccounts } from './owned-accounts.ts';

/** The pause between looks whether another daemon could take the accounts. */
const lookMs = 500;

type Dependencies = Pick<MembershipDependencies, 'clock' | 'log' | 'leaseMs' | 'drain'>;

/** The steps of an owner before it lets go of the accounts because a person wants that, or its clock is off. */
export class HandingOver {
  /** Handed over once at a time. */
  of: OwnedAccounts | null = null;
  readonly #dependencies: Dependencies;
  readonly #link: DatabaseLink;

  constructor(dependencies: Dependencies, link: DatabaseLink) {
    this.#dependencies = dependencies;
    this.#link = link;
  }

  /**
   * Waits for who could take the accounts, for a lease at most, and stores what is known. Gives whether they are to be let go of now. An order
   * that names another epoch than the present one was for somebody else.
   */
  async give(
    owned: OwnedAccounts,
    order: HandOver,
    fleet: { readonly isMine: () => boolean; readonly hasTaker: () => boolean },
  ): Promise<boolean> {
    const { log, drain } = this.#dependencies;
    if (owned.phase !== 'owner' || this.of === owned) return false;
    const isMeant = order.epoch === undefined ? order.at >= owned.takenAt : order.epoch === owned.epoch;
    if (!isMeant) {
      log.info({ order }, 'an order to hand over was for an earlier owner: it is dropped');
      return false;
    }
    this.of = owned;
    try {
      if (!(await this.#waitForTaker(fleet)) || owned.phase !== 'owner') return false;
      const { isClockOff, aheadMs } = this.#link;
      owned.phase = 'giving';
      await drain(isClockOff ? aheadMs : 0);
      if (!fleet.isMine() || owned.phase !== 'giving') return false;
      owned.phase = 'released';
      return true;
    } finally {
      this.of = null;
    }
  }

  async #waitForTaker({ isMine, hasTaker }: Parameters<HandingOver['give']>[2]): Promise<boolean> {
    const { clock, log, leaseMs } = this.#dependencies;
    const until = clock.monotonic() + leaseMs;
    while (isMine() && !hasTaker()) {
      if (clock.monotonic() >= until) {
        log.warn({}, 'the accounts are not handed over: no other daemon could take them');
        return false;
      }
      await new Promise<void>((resolve) => clock.setTimer(lookMs, resolve));
    }
    return isMine();
  }
}
