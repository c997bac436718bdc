import type { ClusterPolling, ClusterProblem, ClusterStatus, MemberCard, Role } from '../ports/cluster.ts';
import type { DatabaseLink } from './database-link.ts';

/** What a process knows of itself among those that share its database. */
interface KnownState {
  readonly role: Role;
  readonly card: Pick<MemberCard, 'node' | 'configHash'>;
  readonly databaseLink: DatabaseLink;
  readonly takeovers: number;
  readonly polling: ClusterPolling;
  /** Whether nobody has polled for longer than a take-over takes. */
  readonly isBlind: boolean;
  /** Nodes whose configuration has not been the owner's for too long. */
  readonly differing: readonly string[];
  /** Why it owns the accounts though something speaks against it; null where nothing does. */
  readonly doubt: string | null;
  /** Why it let go of the accounts without having begun; null where it did not. */
  readonly loadFailure: string | null;
}

export const nobodyOwns =
  'nobody owns the accounts: nothing is polled, unless a daemon that lost the database goes on from memory';

/** What is said of a process that shares its database. */
export function clusterStatusOf(known: KnownState): ClusterStatus {
  const { role, card, databaseLink, takeovers, polling, isBlind } = known;
  const { owner, look, reaches } = databaseLink;
  const alerts = alertsOf(known);
  return {
    role,
    polling,
    ready: look !== null && role !== 'loading' && !isBlind,
    node: card.node,
    owner,
    epoch: look?.epoch ?? null,
    takeovers,
    reachesDatabase: reaches,
    sameConfiguration: owner === null ? null : owner.configHash === card.configHash,
    problems: [...problemsOf(known), ...alerts.map(({ text }) => text)],
    alerts,
  };
}

function alertsOf({
  card,
  databaseLink: { databaseBehindMs },
  doubt,
  differing,
}: KnownState): ClusterProblem[] {
  const alerts: ClusterProblem[] = [];
  if (databaseBehindMs !== 0)
    alerts.push({
      aspect: 'clock',
      severity: 'warning',
      text:
        `the clock of the database is ${Math.round(Math.abs(databaseBehindMs) / 1000)} s ${databaseBehindMs > 0 ? 'behind' : 'ahead of'} the clocks of ` +
        'the daemons, which agree with one another: set it; readings are dated by the clocks of the daemons',
    });
  if (doubt !== null)
    alerts.push({
      aspect: 'doubt',
      severity: 'warning',
      text: `nobody else can own the accounts, so ${card.node} does in doubt: ${doubt}`,
    });
  if (differing.length > 0)
    alerts.push({
      aspect: 'configuration',
      severity: 'warning',
      text: `the configuration of ${differing.join(', ')} has not been that of the owner of the accounts for 10 minutes`,
    });
  return alerts;
}

function problemsOf(known: KnownState): string[] {
  const { role, card, databaseLink, loadFailure, doubt } = known;
  const { owner, look, trouble, aheadMs, isClockOff } = databaseLink;
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
  if (isClockOff && doubt === null)
    problems.push(`${clockOff(node, aheadMs)}: it takes no accounts until it is set`);
  return problems;
}

/** That the clock of a node is off, as a clause. */
export function clockOff(node: string, aheadMs: number): string {
  return `the clock of ${node} is ${(aheadMs / 1000).toFixed(1)} s off the clock of the database and the other daemons`;
}
