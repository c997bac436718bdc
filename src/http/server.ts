import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { keepPromise } from '../daemon/keep-promise.ts';
import { isLoopbackHost } from '../domain/addresses.ts';
import { OperatorError } from '../domain/operator-error.ts';
import { requireOwnHost } from './access.ts';
import type { App } from './app.ts';
import { Attempts } from './attempts.ts';
import { EventStreams } from './events.ts';
import { AnswerQueue, makeRoom, readBody } from './limits.ts';
import { defaultLimits, type WebServerOptions } from './options.ts';
import { createProbes, createScrape, type Probe, type Scrape } from './probes.ts';
import { type Answer, RequestError, refusals, wrongMethod } from './refusal.ts';
import { renderRefusal } from './refuse.ts';
import { Sessions } from './session.ts';
import type { Site } from './web-env.ts';

export interface WebServer {
  readonly url: string;
  /** Ends the event streams, lets running answers finish for a second, then cuts them. May be called twice. */
  close(): Promise<void>;
}

/** Names the database of the daemon that answers. */
const databaseHeader = 'lowwater-database';

/** Rejects with `OperatorError` if the address cannot be used, or if it is open to the network without protection. */
export async function startWebServer(options: WebServerOptions): Promise<WebServer> {
  const { settings, views, log, clock } = options;
  requireProtection(options);
  const limits = { ...defaultLimits, ...options.limits };
  const sessions = settings.token === null ? null : new Sessions(settings.token, options);
  const attempts = new Attempts(clock, log);
  const streams = new EventStreams(views, clock, limits);
  const site: Site = { ...options, limits, sessions, attempts, streams };
  const answering: Answering = {
    site,
    probes: createProbes(views),
    scrape: createScrape(site),
    app: keepPromise(async () => (await import('./app.ts')).createApp(site)),
  };
  const timing = {
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: limits.connectionCheckMs,
  };
  const queue = new AnswerQueue();
  const server = createServer(timing, (request, response) => {
    // While the server closes, a connection is closed once it was answered, so that no more requests come over it.
    response.once('close', () => {
      if (!server.listening) server.closeIdleConnections();
    });
    const isProbe = answering.probes.has(request.url?.split('?', 1)[0] ?? '');
    queue.take(request, response, { isProbe, answer: () => answer(answering, request, response) });
  });
  makeRoom(server, limits.maxConnections);
  server.setTimeout(limits.idleTimeoutMs);
  server.on('clientError', refuseBrokenRequest);
  const url = await listen(server, options);
  return { url, close: keepPromise(() => close(server, site).finally(() => attempts.close())) };
}

function requireProtection({ settings }: WebServerOptions): void {
  if (settings.token !== null || settings.allowUnauthenticated || isLoopbackHost(settings.host)) return;
  throw new OperatorError(
    `server.host ${settings.host} can be reached from other machines: set server.token, or server.allowUnauthenticated to true`,
  );
}

interface Answering {
  readonly site: Site;
  readonly probes: ReadonlyMap<string, Probe>;
  readonly scrape: Scrape;
  readonly app: () => Promise<App>;
}

async function answer(it: Answering, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { log } = it.site;
  const database = it.site.database();
  for (const [name, value] of Object.entries(securityHeaders)) response.setHeader(name, value);
  if (database !== null) response.setHeader(databaseHeader, database);
  try {
    await answerOrThrow(it, request, response);
  } catch (error) {
    // The client left in the middle of its own request: nobody is there to get an answer.
    if (response.destroyed || (request.destroyed && !request.complete)) return;
    if (response.headersSent) {
      log.error({ err: error, path: request.url?.split('?', 1)[0] }, 'an answer was cut off');
      response.destroy();
      return;
    }
    // Closes the connection: else the unread rest of a refused body would be taken for the next request.
    if (!request.complete) response.setHeader('connection', 'close');
    send(await renderRefusal(it.site, error, request), request, response);
  }
}

async function answerOrThrow(
  { site, probes, scrape, app }: Answering,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const target = request.url ?? '';
  // A path is appended, not resolved: resolved, `//name/x` would be an address on another host.
  const url = URL.parse(target.startsWith('/') ? `http://server${target}` : target, 'http://server');
  if (url === null) throw new RequestError('bad_request', refusals.badAddress());
  // Servers differ in which of several names they use, and a proxy in front may have checked
  // another one.
  if ((request.headersDistinct.host?.length ?? 0) > 1)
    throw new RequestError('bad_request', 'The request names more than one host.');
  const reads = request.method === 'GET' || request.method === 'HEAD';
  const probe = probes.get(url.pathname);
  if (!reads && (probe !== undefined || url.pathname === '/metrics')) throw wrongMethod('HEAD, GET');
  // The web's `Request` does not allow this method.
  if (request.method === 'TRACE') throw wrongMethod('HEAD, GET, POST, DELETE');
  if (probe !== undefined) return send(probe(url.searchParams), request, response);
  requireOwnHost(site, url.pathname, request);
  if (url.pathname === '/metrics') return scrape(request, response);
  if (!/^(?:identity)?$/i.test(request.headers['content-encoding'] ?? ''))
    throw new RequestError('unsupported_media_type', 'The body must not be compressed.');
  const body = reads ? null : await readBody(request, site.limits.maxBodyBytes);
  const handle = await app();
  await handle(request, response, body);
}

function send({ status, headers, body }: Answer, request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
  response.end(request.method === 'HEAD' ? undefined : body);
}

/** Answers requests that cannot be parsed: they are too slow, too large, or not HTTP. */
function refuseBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  const statuses: Readonly<Record<string, string>> = {
    ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
    HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  };
  const status = statuses[error.code ?? ''] ?? '400 Bad Request';
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`, () => socket.destroy());
}

async function listen(server: Server, { settings }: WebServerOptions): Promise<string> {
  server.listen(settings.port, settings.host.replace(/^\[|\]$/g, ''));
  await once(server, 'listening').catch((cause: NodeJS.ErrnoException) => {
    const where = `${settings.host}:${settings.port}`;
    const reasons: Readonly<Record<string, string>> = {
      EADDRINUSE: `${where} is already in use; set server.port to another one`,
      EACCES: `${where} may not be used by this user; ports below 1024 need a privilege`,
      EADDRNOTAVAIL: `${settings.host} is not an address of this machine`,
      ENOTFOUND: `${settings.host} is no known host`,
    };
    const reason = reasons[cause.code ?? ''] ?? `cannot listen on ${where}: ${cause.message}`;
    throw new OperatorError(reason, { cause });
  });
  const { address, family, port } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

async function close(server: Server, { streams, clock }: Site): Promise<void> {
  const cancel = clock.setTimer(1_000, () => server.closeAllConnections());
  const closed = once(server, 'close');
  server.close();
  streams.close();
  server.closeIdleConnections();
  await closed;
  cancel();
}

/**
 * Headers of every answer. Scripts, styles and images come from this server only; nothing is inline or framed.
 * `same-origin` and not `no-referrer`: with the latter, browsers send `Origin: null` with the page's own forms.
 */
const securityHeaders: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-robots-tag': 'noindex',
  'cache-control': 'no-store',
};
