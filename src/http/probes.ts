import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { keepPromise } from '../daemon/keep-promise.ts';
import { isoText } from '../domain/time.ts';
import type { ClusterStatus } from '../ports/cluster.ts';
import type { CurrentViews } from '../views/current-views.ts';
import type { LiveViews } from '../views/live-views.ts';
import { isFromHere, requireSignIn } from './access.ts';
import { expositionMediaType } from './exposition.ts';
import { renderMetrics } from './metrics.ts';
import type { Answer } from './refusal.ts';
import { acceptsGzip, type Site } from './web-env.ts';

/** Requests that programs send all day. They are answered without loading the code for page and API. */
export type Probe = (query: URLSearchParams) => Answer;

/**
 * `/livez` says that the process answers. It depends on nothing else, so no container is restarted for an
 * outage elsewhere. `/readyz` is 200 once the database is open and the scheduler runs; trouble that does not stop
 * it is listed in `problems`. Of daemons that share a database, one that should poll but cannot answers 503 as well.
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
  // The daemon knows the accounts, but nobody polls them.
  const isBlind = cluster?.polling.who === 'nobody' && cluster.role !== 'loading';
  const status = ready ? 'ok' : isBlind ? 'not-polling' : 'starting';
  const body = { status, problems, ...(cluster && clusterJson(cluster)) };
  if (!query.has('verbose')) return json(ready ? 200 : 503, body);
  const instants = { startedAt: isoText(startedAt), configLoadedAt: isoText(configLoadedAt) };
  return json(ready ? 200 : 503, { ...body, version, ...instants, configReloadOk });
}

/** `polling`: `this`, another node, `nobody` or `unknown`. Other daemons use the rest to decide who may poll. */
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

/** Logged once, with the advice how to allow it. */
const refusedScrape =
  'a scrape of /metrics was refused: let Prometheus send the token (authorization: credentials), or set "server": {"openMetrics": true}';

export type Scrape = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/**
 * `/metrics`. It asks for the token unless the request comes from this machine itself (not through a proxy) or `server.openMetrics` is true,
 * because balances are private. Written in slices, so that no scrape stalls the daemon, however many accounts there are.
 */
export function createScrape(site: Site): Scrape {
  const { views, settings, clock, log, attempts } = site;
  let wasLogged = false;
  return async (request, response) => {
    if (!settings.openMetrics && !isFromHere(site, request))
      await requireSignIn(site, request).catch((refusal: unknown) => {
        if (!wasLogged) log.warn({}, refusedScrape);
        wasLogged = true;
        throw refusal;
      });
    const zipped = acceptsGzip(String(request.headers['accept-encoding'] ?? ''));
    response.writeHead(200, {
      'content-type': expositionMediaType,
      vary: 'accept-encoding',
      ...(zipped ? { 'content-encoding': 'gzip' } : {}),
    });
    if (request.method === 'HEAD') return void response.end();
    const asked = await views.refreshed();
    const { publicUrl } = settings;
    const figures = { now: clock.now(), refusedTokens: attempts.refused, publicUrl };
    const text = Readable.from(writeAll(renderMetrics(asked, figures)));
    await (zipped ? pipeline(text, createGzip(), response) : pipeline(text, response));
  };
}

async function* writeAll(own: AsyncGenerator<string>): AsyncGenerator<string> {
  yield* own;
  yield `${await (await registry()).metrics()}\n`;
}

/** `process_*` and `nodejs_*`, as Node dashboards expect, loaded with the first scrape. One per process: its observers outlive a replaced server. */
const registry = keepPromise(openRegistry);

/** The totals repeat `nodejs_active_*`. They are gauges named like counters, which `promtool check metrics` refuses. */
const doubled = ['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`);

async function openRegistry() {
  const { default: prometheus } = await import('prom-client');
  const opened = new prometheus.Registry();
  prometheus.collectDefaultMetrics({ register: opened });
  for (const name of doubled) opened.removeSingleMetric(name);
  return opened;
}
