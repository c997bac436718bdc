import { ownOf } from '../domain/own.ts';
import type { ClusterMember } from '../ports/cluster.ts';

/** The parts of a configuration: for each kind of thing, a digest of each by its name. */
export type ConfigurationParts = Readonly<Record<string, Readonly<Record<string, string>>>>;

const maxNames = 10;

type Configured = Pick<ClusterMember, 'configHash' | 'program'>;

/** Null if it cannot be known: programs of two versions make different settings of the same file. */
export function haveSameConfiguration(one: Configured, other: Configured): boolean | null {
  if (one.configHash === other.configHash) return true;
  return one.program === other.program ? false : null;
}

/** The differences of `other` from `owner`, by name: `accounts: otp (missing), new (added); rules: sms-low (changed)`. */
export function compareConfigurations(owner: ConfigurationParts, other: ConfigurationParts): string {
  return Object.keys({ ...owner, ...other })
    .flatMap((kind) => {
      const names = differingNames(owner[kind] ?? {}, other[kind] ?? {});
      const more = names.length > maxNames ? [`${names.length - maxNames} more`] : [];
      return names.length === 0 ? [] : [`${kind}: ${[...names.slice(0, maxNames), ...more].join(', ')}`];
    })
    .join('; ');
}

function differingNames(
  owner: Readonly<Record<string, string>>,
  other: Readonly<Record<string, string>>,
): string[] {
  return Object.keys({ ...owner, ...other }).flatMap((name) => {
    if (ownOf(owner, name) === ownOf(other, name)) return [];
    if (ownOf(other, name) === undefined) return [`${name} (missing)`];
    return [`${name} (${ownOf(owner, name) === undefined ? 'added' : 'changed'})`];
  });
}
