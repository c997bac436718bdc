import type { ClusterStatus, MemberCard, Role } from '../ports/cluster.ts';
import type { DatabaseLink } from './database-link.ts';

interface Itself {
  readonly role: Role;
  readonly card: Omit<MemberCard, 'incarnation'>;
  readonly databaseLink: DatabaseLink;
  readonly takeovers: number;
}

export const nobodyOwns =
  'nobody owns the accounts: nothing is polled, unless a daemon that lost the database goes on from memory';

/** What is said of a process that shares its database. */
export function clusterStatusOf(itself: Itself): ClusterStatus {
  const { role, card, databaseLink, takeovers } = itself;
  const { owner, look, reaches } = databaseLink;
  return {
    role,
    node: card.node,
    owner,
    epoch: look?.epoch ?? null,
    takeovers,
    reachesDatabase: reaches,
    sameConfiguration: owner === null ? null : owner.configHash === card.configHash,
    problems: problemsOf(itself),
  };
}

function problemsOf({ role, card: { node, configHash }, databaseLink }: Itself): string[] {
  const { owner, look, trouble, skewMs, isClockOff } = databaseLink;
  const problems: string[] = [];
  if (trouble !== null) problems.push(`the shared database does not answer this daemon (${trouble.message})`);
  else if (look !== null && owner === null && (role === 'standby' || role === 'loading'))
    problems.push(nobodyOwns);
  if (role === 'alone') problems.push('nobody reaches the shared database: going on from memory');
  if (owner !== null && owner.configHash !== configHash)
    problems.push(`the configuration of ${node} is not that of ${owner.node}, which owns the accounts`);
  if (isClockOff)
    problems.push(
      `the clock of ${node} is ${(skewMs / 1000).toFixed(1)} s off the clock of the database: it takes no accounts until it is set`,
    );
  return problems;
}
