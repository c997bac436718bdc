import type { ClusterMember, MemberCard } from '../ports/cluster.ts';
import type { Contact } from './database-link.ts';

/** What a process that shares its database is at this moment. */
export type Role =
  /** It has not reached the database yet, or became another incarnation just now. */
  | 'joining'
  | 'standby'
  /** It owns the accounts and reads what is stored of them. */
  | 'loading'
  | 'owner'
  /** It goes on from memory, because nobody reaches the database. */
  | 'alone';

export interface Standing {
  readonly role: Role;
  readonly node: string;
  /** Null where nobody owns the accounts, or that is not known. */
  readonly owner: ClusterMember | null;
  readonly epoch: number | null;
  /** How often this process took the accounts. */
  readonly takeovers: number;
  /** Whether the database answered the last time. */
  readonly reachesDatabase: boolean;
  /** Whether its configuration is the owner's; null where no owner is known. */
  readonly sameConfiguration: boolean | null;
  /** Sentences about what is wrong. */
  readonly problems: readonly string[];
}

interface Itself {
  readonly role: Role;
  readonly card: Omit<MemberCard, 'incarnation'>;
  readonly contact: Contact;
  readonly takeovers: number;
}

export const nobodyOwns =
  'nobody owns the accounts: nothing is polled, unless a daemon that lost the database goes on from memory';

/** What is said of a process that shares its database. */
export function standingOf(itself: Itself): Standing {
  const { role, card, contact, takeovers } = itself;
  const { owner, look, reaches } = contact;
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

function problemsOf({ role, card: { node, configHash }, contact }: Itself): string[] {
  const { owner, look, trouble, skewMs, isClockOff } = contact;
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
