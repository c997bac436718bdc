import { isoText } from '../domain/moment.ts';
import type { ClusterStatus } from '../ports/cluster.ts';
import type { CurrentViews } from '../views/current-views.ts';
import type { LiveViews } from '../views/live-views.ts';
import type { Answer } from './refusal.ts';

/** What programs ask for all day: it is answered without loading what page and API need. */
export type Probe = (query: URLSearchParams, now: number) => Answer;

/**
 * `/livez` says that the process answers and depends on nothing, so a container is never restarted for an
 * outage elsewhere. `/readyz` is 200 once the database is open and the scheduler runs; what is wrong although
 * it runs stands in `problems`. Of daemons that share a database, one that should poll and cannot answers 503 as well.
 */
export function createProbes(views: Pick<CurrentViews, 'now'>): ReadonlyMap<string, Probe> {
  const live: Probe = () => json(200, { status: 'ok' });
  return new Map([
    ['/livez', live],
    ['/healthz', live],
    ['/readyz', (query) => readiness(views.now, query)],
  ]);
}

function readiness(views: LiveViews, query: URLSearchParams): Answer {
  const { ready, problems, version, startedAt, configLoadedAt, configReloadOk, cluster } = views.status();
  const status = ready ? 'ok' : isBlind(cluster) ? 'not-polling' : 'starting';
  const body = { status, problems, ...(cluster && clusterJson(cluster)) };
  if (!query.has('verbose')) return json(ready ? 200 : 503, body);
  const instants = { startedAt: isoText(startedAt), configLoadedAt: isoText(configLoadedAt) };
  return json(ready ? 200 : 503, { ...body, version, ...instants, configReloadOk });
}

/** It knows the accounts, and nobody polls them. */
function isBlind(cluster: ClusterStatus | undefined): boolean {
  return cluster?.polling.who === 'nobody' && cluster.role !== 'loading';
}

/**
 * `polling` is `this`, the name of another node, `nobody` or `unknown`. Other daemons look at `reachesDatabase` where they do not reach it
 * themselves, and at `role` and `origin` where they are no members of the same one.
 */
function clusterJson(cluster: ClusterStatus): object {
  const { role, node, owner, epoch, reachesDatabase, origin, sameConfiguration, polling } = cluster;
  const server = origin === null ? {} : { origin };
  return {
    polling: polling.node ?? polling.who,
    pollingSince: isoText(polling.since),
    cluster: { role, node, owner: owner?.node ?? null, epoch, reachesDatabase, ...server, sameConfiguration },
  };
}

function json(status: number, body: object): Answer {
  return { status, headers: { 'content-type': 'application/json' }, body: `${JSON.stringify(body)}\n` };
}
