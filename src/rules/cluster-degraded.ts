import type { ClusterAspect } from '../ports/cluster.ts';
import { ownFigures } from './figures.ts';
import { wordValue } from './item-words.ts';
import type { AlertKind } from './kind.ts';

const type = 'cluster-degraded';

/** What ended, and what to do while it lasts. */
const aspects: Readonly<Record<ClusterAspect, { readonly resolved: string; readonly advice: string }>> = {
  clock: {
    resolved: 'the clock of the database is right again',
    advice:
      'Set the clock of the database server (NTP). Alerts and forecasts go by the clocks of the daemons until then.',
  },
  configuration: {
    resolved: 'all daemons that share the database have one configuration again',
    advice:
      'After a take-over the accounts are watched by the other configuration. Give every daemon the same file, and each fleet a database of its own; "lowwater cluster hand-over" lists what differs.',
  },
  split: {
    resolved: 'one database server takes writes again',
    advice:
      'Stop the older server, or make it a standby of the newer one. The daemon on the older history lets go of the accounts; what it stored since the fail-over stays on that server.',
  },
  doubt: {
    resolved: 'nothing speaks against the owner of the accounts any more',
    advice:
      'Alerts may be sent twice as long as this lasts. Remove what keeps every daemon from owning the accounts: "lowwater cluster status" and /readyz of each daemon name it.',
  },
};

/** Something is wrong among the daemons that share a database, or with that database, while one of them polls. */
export const clusterDegraded: AlertKind = {
  type,
  concernsEveryChannel: true,
  subject: () => 'shared database',
  firing: (item, frame) =>
    wordValue(item, frame) ?? 'something is wrong among the daemons that share the database',
  resolved: ({ rule }) => aspectOf(rule)?.resolved ?? 'the daemons that share the database are well again',
  recovery: 'Resolved: all is well among the daemons that share the database.',
  figures: ownFigures,
  advice: ({ rule }) => {
    const aspect = aspectOf(rule);
    return aspect === undefined ? [] : [aspect.advice];
  },
};

/** The rule ids under which these are reported, by what they are about. */
export const clusterDegradedRules: readonly (readonly [aspect: string, rule: string])[] = Object.keys(
  aspects,
).map((aspect) => [aspect, `${type}:${aspect}`]);

function aspectOf(rule: string): { readonly resolved: string; readonly advice: string } | undefined {
  return Object.entries(aspects).find(([aspect]) => rule === `${type}:${aspect}`)?.[1];
}
