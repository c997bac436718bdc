import type { ClusterLook, ClusterMember, MemberCard } from '../ports/cluster.ts';

/** Finds another process of the name of this one: which one of both an operator means by it nobody could tell. */
export class NameWatch {
  /** By incarnation, when the leases of namesakes end: one that grows belongs to a process that lives. */
  #expiry = new Map<string, number>();
  #twin: ClusterMember | null = null;

  /** The other one, which lives; null where there is none. */
  get twin(): ClusterMember | null {
    return this.#twin;
  }

  observe({ members }: ClusterLook, { node, status: own }: MemberCard): void {
    const namesakes = members.filter(
      (member) => member.node === node && member.status?.process !== own?.process,
    );
    this.#twin =
      namesakes.find(
        ({ incarnation, expiresAt }) => expiresAt > (this.#expiry.get(incarnation) ?? expiresAt),
      ) ??
      namesakes.find(({ incarnation }) => incarnation === this.#twin?.incarnation) ??
      null;
    this.#expiry = new Map(namesakes.map(({ incarnation, expiresAt }) => [incarnation, expiresAt]));
  }

  /** Whether the other one was there before this process. */
  isLater({ status: own }: MemberCard): boolean {
    if (this.#twin === null || own?.since == null) return false;
    const { status } = this.#twin;
    if (status === null) return true;
    if (status.since === null) return false;
    return status.since < own.since || (status.since === own.since && status.process < own.process);
  }
}
