import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Log } from '../ports/log.ts';
import { type Guard, isFromHere, requireSignIn } from './access.ts';
import { expositionMediaType } from './exposition.ts';
import { renderMetrics } from './metrics.ts';
import type { WebServerOptions } from './options.ts';
import { acceptsGzip } from './web-env.ts';

export type Scrape = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/**
 * `/metrics`. It asks for the token unless the request comes from this machine itself (a proxy's do not) or `server.openMetrics` is true:
 * balances are nobody else's business. Written in slices, so that no scrape stalls the daemon, whatever the number of accounts.
 */
export function createScrape(options: WebServerOptions, guard: Guard): Scrape {
  const { views, settings, clock } = options;
  const notify = notifyOnce(options.log);
  return async (request, response) => {
    const { headers, socket } = request;
    if (!settings.openMetrics && !isFromHere(guard, headers)) {
      await requireSignIn(guard, { method: 'GET', headers, address: socket.remoteAddress ?? '' }).catch(
        notify,
      );
    }
    const zipped = acceptsGzip(String(headers['accept-encoding'] ?? ''));
    response.writeHead(200, {
      'content-type': expositionMediaType,
      vary: 'accept-encoding',
      ...(zipped ? { 'content-encoding': 'gzip' } : {}),
    });
    if (request.method === 'HEAD') {
      response.end();
      return;
    }
    const text = Readable.from(
      writeAll(renderMetrics(views.now, { now: clock.now(), refusedTokens: guard.attempts.refused })),
    );
    await (zipped ? pipeline(text, createGzip(), response) : pipeline(text, response));
  };
}

async function* writeAll(own: AsyncGenerator<string>): AsyncGenerator<string> {
  yield* own;
  yield await renderProcessMetrics();
}

/** Logs the first refusal, with what to do about it, and throws each on. */
function notifyOnce(log: Log): (refusal: unknown) => never {
  let notified = false;
  return (refusal) => {
    if (!notified) {
      notified = true;
      log.warn(
        {},
        'a scrape of /metrics was refused: let Prometheus send the token (authorization: credentials), or set "server": {"openMetrics": true}',
      );
    }
    throw refusal;
  };
}

/** `process_*` and `nodejs_*`, as dashboards for Node expect them; by prom-client, loaded with the first scrape. */
async function renderProcessMetrics(): Promise<string> {
  registry ??= openRegistry();
  return `${await (await registry).metrics()}\n`;
}

/** One for the process: its observers outlive a server that makes way for another. */
let registry: ReturnType<typeof openRegistry> | null = null;

/** What `nodejs_active_*` say by type already; as gauges that are called a total, `promtool check metrics` refuses them. */
const doubled = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

async function openRegistry() {
  const { default: prometheus } = await import('prom-client');
  const opened = new prometheus.Registry();
  prometheus.collectDefaultMetrics({ register: opened });
  for (const name of doubled) opened.removeSingleMetric(name);
  return opened;
}
