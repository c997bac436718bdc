import type { ClusterMember, ClusterProblem, ClusterStatus, MemberCard, Role } from '../ports/cluster.ts';
import type { FleetView } from './fleet-view.ts';

interface KnownState {
  readonly role: Role;
  readonly card: Pick<MemberCard, 'node' | 'configHash'>;
  readonly fleet: FleetView;
  /** The epoch under which it has the accounts; null where it has not. */
  readonly takenUnder: number | null;
  readonly takeovers: number;
  /** Whether nobody has polled for longer than a take-over takes, as far as can be known. */
  readonly isBlind: boolean;
  /** Why it owns the accounts though something speaks against it; null where nothing does. */
  readonly doubt: string | null;
  /** Why it let go of the accounts without having begun; null where it did not. */
  readonly loadFailure: string | null;
}

export const nobodyOwns =
  'nobody owns the accounts: nothing is polled, unless a daemon that lost the database goes on from memory';

export function clusterStatusOf(known: KnownState): ClusterStatus {
  const { role, card, fleet, takeovers, isBlind } = known;
  const { owner, look, reaches } = fleet.link;
  const alerts = alertsOf(known);
  return {
    role,
    polling: fleet.polling,
    ready: look !== null && role !== 'loading' && !isBlind,
    node: card.node,
    owner,
    epoch: known.takenUnder ?? look?.epoch ?? null,
    takeovers,
    reachesDatabase: reaches,
    origin: look?.origin ?? null,
    sameConfiguration: owner === null ? null : owner.configHash === card.configHash,
    problems: [...problemsOf(known), ...alerts.map(({ text }) => text)],
    alerts,
  };
}

const aspects = ['clock', 'doubt', 'split', 'configuration'] as const;

function alertsOf({ card, fleet, doubt }: KnownState): readonly ClusterProblem[] {
  const { databaseBehindMs, owner } = fleet.link;
  const { differing, strangers } = fleet.configurations;
  const texts: Readonly<Record<ClusterProblem['aspect'], string | null>> = {
    clock:
      databaseBehindMs === 0
        ? null
        : `the clock of the database is ${Math.round(Math.abs(databaseBehindMs) / 1000)} s ${databaseBehindMs > 0 ? 'behind' : 'ahead of'} the clocks of ` +
          'the daemons, which agree with one another: set it; readings are dated by the clocks of the daemons',
    doubt:
      doubt === null ? null : `nobody else can own the accounts, so ${card.node} does in doubt: ${doubt}`,
    split: fleet.split,
    configuration:
      strangers.length > 0
        ? `${strangers.join(', ')} and ${owner?.node ?? 'the owner'} have no account in common: two fleets share this database`
        : differing.length > 0
          ? `the configuration of ${differing.join(', ')} has not been that of the owner of the accounts for 10 minutes`
          : null,
  };
  return aspects.flatMap((aspect) => {
    const text = texts[aspect];
    return text === null ? [] : [{ aspect, severity: 'warning' as const, text }];
  });
}

function problemsOf(known: KnownState): string[] {
  const { role, card, fleet, loadFailure, doubt } = known;
  const { owner, look, trouble, aheadMs, isClockOff } = fleet.link;
  const { node, configHash } = card;
  const problems: string[] = [];
  if (trouble !== null) problems.push(`the shared database does not answer this daemon (${trouble.message})`);
  else if (look === null) problems.push('the shared database was not asked yet');
  else if (owner === null && (role === 'standby' || role === 'loading' || role === 'joining'))
    problems.push(nobodyOwns);
  if (role === 'loading') problems.push(`${node} has taken the accounts and reads what is stored`);
  if (role === 'alone') problems.push('nobody reaches the shared database: going on from memory');
  if (loadFailure !== null) problems.push(loadFailure);
  if (owner !== null && owner.configHash !== configHash)
    problems.push(`the configuration of ${node} is not that of ${owner.node}, which owns the accounts`);
  if (fleet.names.duplicate !== null) problems.push(namesake(node, fleet.names.duplicate));
  if (isClockOff && doubt === null)
    problems.push(`${clockOff(node, aheadMs)}: it takes no accounts until it is set`);
  return problems;
}

/** That the clock of a node is off, as a clause. */
export function clockOff(node: string, aheadMs: number): string {
  return `the clock of ${node} is ${(aheadMs / 1000).toFixed(1)} s off the clock of the database and the other daemons`;
}

/** That another process has the name of this one, as a clause. */
export function namesake(node: string, { advertise, program }: ClusterMember): string {
  const where = advertise === null ? '' : ` at ${advertise}`;
  return `another daemon (${program}${where}) is named ${node} too: give each a cluster.node of its own`;
}
