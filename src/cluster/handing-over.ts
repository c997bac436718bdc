import type { HandOver } from '../domain/operator.ts';
import type { DatabaseLink } from './database-link.ts';
import type { MembershipDependencies } from './membership-dependencies.ts';
import type { OwnedAccounts } from './owned-accounts.ts';

/** The pause between checks whether another daemon could take the accounts. */
const lookMs = 500;

interface GivingDependencies extends Pick<MembershipDependencies, 'clock' | 'log' | 'leaseMs' | 'drain'> {
  readonly link: DatabaseLink;
  readonly isMine: () => boolean;
  readonly hasTaker: () => boolean;
}

/**
 * The steps of an owner before it lets go of the accounts, because of an order or because its clock is off. It waits for a daemon that could
 * take them, for one lease at most, and stores what is known. Returns whether to let go of them now. An order that names another epoch
 * than the present one was for another owner.
 */
export async function giveAway(
  owned: OwnedAccounts,
  order: HandOver,
  dependencies: GivingDependencies,
): Promise<boolean> {
  const { log, drain, link, isMine } = dependencies;
  if (owned.phase !== 'owner' || owned.isGivenAway) return false;
  const isMeant = order.epoch === undefined ? order.at >= owned.takenAt : order.epoch === owned.epoch;
  if (!isMeant) {
    log.info({ order }, 'an order to hand over was for an earlier owner: it is dropped');
    return false;
  }
  owned.isGivenAway = true;
  try {
    if (!(await waitForTaker(dependencies)) || owned.phase !== 'owner') return false;
    owned.phase = 'giving';
    await drain(link.isClockOff ? link.aheadMs : 0);
    if (!isMine() || owned.phase !== 'giving') return false;
    owned.phase = 'released';
    return true;
  } finally {
    owned.isGivenAway = false;
  }
}

async function waitForTaker({ clock, log, leaseMs, isMine, hasTaker }: GivingDependencies): Promise<boolean> {
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
