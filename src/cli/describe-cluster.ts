import { isoText } from '../domain/moment.ts';
import type { ClusterLook } from '../ports/cluster.ts';

export interface DescribedCluster {
  readonly epoch: number;
  /** The node that owns the accounts; null where nobody does. */
  readonly owner: string | null;
  readonly members: readonly DescribedMember[];
}

interface DescribedMember {
  readonly node: string;
  readonly role: 'owner' | 'standby';
  readonly advertise: string | null;
  readonly program: string;
  /** As the owner's; null where there is no owner. */
  readonly sameConfiguration: boolean | null;
  readonly leaseEndsAt: string;
}

/** The daemons that share a database, as JSON and tables show them. */
export function describeCluster({ epoch, owner, members }: ClusterLook): DescribedCluster {
  const leading = members.find(({ incarnation }) => incarnation === owner);
  return {
    epoch,
    owner: leading?.node ?? null,
    members: members.map((member) => ({
      node: member.node,
      role: member === leading ? 'owner' : 'standby',
      advertise: member.advertise,
      program: member.program,
      sameConfiguration: leading === undefined ? null : leading.configHash === member.configHash,
      leaseEndsAt: isoText(member.expiresAt),
    })),
  };
}
