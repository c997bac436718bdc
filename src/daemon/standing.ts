import type { ClusterMember, MemberCard } from './ports.ts';

/** Readings carry the dates of the machine's clock: one that is further off the database's owns nothing. */
export const mostSkewMs = 2000;

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
  /** Sentences about what is wrong. */
  readonly problems: readonly string[];
}

/** What is wrong with a process that shares its database, in sentences. */
export function problemsOf({
  role,
  card: { node, configHash },
  owner,
  reachesDatabase,
  skewMs,
}: Pick<Standing, 'role' | 'owner' | 'reachesDatabase'> & {
  readonly card: Omit<MemberCard, 'incarnation'>;
  /** By how much its clock is ahead of the database's. */
  readonly skewMs: number;
}): string[] {
  const problems: string[] = [];
  if (!reachesDatabase) problems.push('the shared database does not answer this daemon');
  if (role === 'alone') problems.push('nobody reaches the shared database: going on from memory');
  if (owner !== null && owner.configHash !== configHash)
    problems.push(`the configuration of ${node} is not that of ${owner.node}, which owns the accounts`);
  if (Math.abs(skewMs) > mostSkewMs)
    problems.push(
      `the clock of ${node} is ${(skewMs / 1000).toFixed(1)} s off the clock of the database: it takes no accounts until it is set`,
    );
  return problems;
}
