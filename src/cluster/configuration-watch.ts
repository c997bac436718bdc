import { StorageError } from '../domain/operator-error.ts';
import type { Cluster, ClusterLook, ClusterMember } from '../ports/cluster.ts';
import { type ConfigurationParts, haveSameConfiguration } from './compare-configurations.ts';

/** A rollout replaces daemons one after another. A difference that lasts longer than this is not intended. */
const toleratedMs = 10 * 60 * 1000;

/** Finds members whose configuration has differed from the owner's for too long, and members that watch other accounts altogether. */
export class ConfigurationWatch {
  /** The names of the nodes, sorted. */
  differing: readonly string[] = [];
  /** Nodes that have no account in common with the owner: another fleet on the same database. */
  strangers: readonly string[] = [];
  /** Whether all members are known to have the owner's configuration. */
  isOne = false;
  readonly #cluster: Pick<Cluster, 'configurations'>;
  /** Since when each pair of nodes differs, whichever of the two owns the accounts. */
  #since = new Map<string, number>();
  readonly #accounts = new Map<string, ReadonlySet<string>>();
  #isAsking = false;

  constructor(cluster: Pick<Cluster, 'configurations'>) {
    this.#cluster = cluster;
  }

  observe({ members, owner }: ClusterLook, monotonicNow: number): void {
    const pairs = members.flatMap((one, at) =>
      members
        .slice(at + 1)
        .filter((other) => haveSameConfiguration(one, other) === false)
        .map((other) => pairOf(one, other)),
    );
    const since = (pair: string): number => this.#since.get(pair) ?? monotonicNow;
    this.#since = new Map(pairs.map((pair) => [pair, since(pair)]));
    const leading = members.find(({ incarnation }) => incarnation === owner);
    // While the accounts change owners, no difference counts as ended.
    if (leading === undefined) return;
    const own = leading.configHash;
    const others = members.filter(({ configHash }) => configHash !== own);
    this.isOne = others.length === 0;
    this.differing = others
      .filter((member) => monotonicNow - since(pairOf(leading, member)) >= toleratedMs)
      .map(({ node }) => node);
    this.strangers = others
      .filter(({ configHash }) => this.#haveNothingInCommon(own, configHash))
      .map(({ node }) => node);
    const hashes = others.length === 0 ? [] : [own, ...others.map(({ configHash }) => configHash)];
    // Over years of reloads many configurations come and go, each with up to tens of thousands of accounts.
    for (const hash of this.#accounts.keys()) if (!hashes.includes(hash)) this.#accounts.delete(hash);
    void this.#learn(hashes);
  }

  #haveNothingInCommon(one: string, other: string): boolean {
    const [these, those] = [this.#accounts.get(one), this.#accounts.get(other)];
    if (these === undefined || those === undefined || these.size === 0 || those.size === 0) return false;
    return [...those].every((account) => !these.has(account));
  }

  /** A configuration that was not published yet is asked for again at the next look. */
  async #learn(hashes: readonly string[]): Promise<void> {
    const unknown = hashes.filter((hash) => !this.#accounts.has(hash));
    if (unknown.length === 0 || this.#isAsking) return;
    this.#isAsking = true;
    try {
      for (const [hash, parts] of await this.#cluster.configurations(unknown)) {
        const { accounts = {} } = JSON.parse(parts) as ConfigurationParts;
        this.#accounts.set(hash, new Set(Object.keys(accounts)));
      }
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
    } finally {
      this.#isAsking = false;
    }
  }
}

function pairOf(one: ClusterMember, other: ClusterMember): string {
  return [one.node, other.node].toSorted().join('\n');
}
