import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { type Guard, isFromHere, requireSignIn } from './access.ts';
import { expositionMediaType } from './exposition.ts';
import { renderMetrics } from './metrics.ts';
import type { WebServerOptions } from './options.ts';
import { acceptsGzip } from './web-env.ts';

/** Logged once, with what to do about it. */
const refusedScrape =
  'a scrape of /metrics was refused: let Prometheus send the token (authorization: credentials), or set "server": {"openMetrics": true}';

export type Scrape = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/**
 * `/metrics`. It asks for the token unless the request comes from this machine itself (a proxy's do not) or `server.openMetrics` is true:
 * balances are nobody else's business. Written in slices, so that no scrape stalls the daemon, whatever the number of accounts.
 */
export function createScrape(options: WebServerOptions, guard: Guard): Scrape {
  const { views, settings, clock } = options;
  let wasLogged = false;
  const requireAccess = async ({ headers, socket }: IncomingMessage): Promise<void> => {
    if (settings.openMetrics || isFromHere(guard, headers)) return;
    try {
      await requireSignIn(guard, { method: 'GET', headers, address: socket.remoteAddress ?? '' });
    } catch (refusal) {
      if (!wasLogged) options.log.warn({}, refusedScrape);
      wasLogged = true;
      throw refusal;
    }
  };
  return async (request, response) => {
    await requireAccess(request);
    const zipped = acceptsGzip(String(request.headers['accept-encoding'] ?? ''));
    response.writeHead(200, {
      'content-type': expositionMediaType,
      vary: 'accept-encoding',
      ...(zipped ? { 'content-encoding': 'gzip' } : {}),
    });
    if (request.method === 'HEAD') return void response.end();
    const figures = { now: clock.now(), refusedTokens: guard.attempts.refused };
    const text = Readable.from(writeAll(renderMetrics(views.now, figures)));
    await (zipped ? pipeline(text, createGzip(), response) : pipeline(text, response));
  };
}

async function* writeAll(own: AsyncGenerator<string>): AsyncGenerator<string> {
  yield* own;
  registry ??= openRegistry();
  yield `${await (await registry).metrics()}\n`;
}

/** `process_*` and `nodejs_*`, as dashboards for Node expect them; loaded with the first scrape. One for the process: its observers outlive a server that makes way for another. */
let registry: ReturnType<typeof openRegistry> | null = null;

/** What `nodejs_active_*` say by type already; as gauges that are called a total, `promtool check metrics` refuses them. */
const doubled = ['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`);

async function openRegistry() {
  const { default: prometheus } = await import('prom-client');
  const opened = new prometheus.Registry();
  prometheus.collectDefaultMetrics({ register: opened });
  for (const name of doubled) opened.removeSingleMetric(name);
  return opened;
}
