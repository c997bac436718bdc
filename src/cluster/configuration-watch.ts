import type { ClusterLook } from '../ports/cluster.ts';

/** A rollout replaces one daemon after the other: what differs for longer was not meant. */
const toleratedMs = 10 * 60 * 1000;

/** Which members have had another configuration than the owner for too long. */
export class ConfigurationWatch {
  /** By incarnation, since when. */
  #since = new Map<string, number>();
  #nodes: readonly string[] = [];

  /** The nodes, in words' order. */
  get differing(): readonly string[] {
    return this.#nodes;
  }

  observe({ members, owner }: ClusterLook, monotonicNow: number): void {
    const own = members.find(({ incarnation }) => incarnation === owner)?.configHash;
    const others = members.filter(({ configHash }) => own !== undefined && configHash !== own);
    this.#since = new Map(
      others.map(({ incarnation }) => [incarnation, this.#since.get(incarnation) ?? monotonicNow]),
    );
    this.#nodes = others
      .filter(
        ({ incarnation }) => monotonicNow - (this.#since.get(incarnation) ?? monotonicNow) >= toleratedMs,
      )
      .map(({ node }) => node);
  }
}
