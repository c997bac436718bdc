import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { isLoopbackHost } from '../domain/loopback-host.ts';
import { OperatorError, StorageError } from '../domain/ports.ts';
import { admit, type Guard } from './access.ts';
import { Attempts } from './attempts.ts';
import { bodyReaders, type Call } from './call.ts';
import { EventStreams } from './events.ts';
import { securityHeaders } from './headers.ts';
import { makeRoom } from './make-room.ts';
import { defaultLimits, type ServerLimits, type WebServerOptions } from './options.ts';
import { sendErrorPage, sendToSignIn } from './page/error.ts';
import { type Reply, RequestError, sendJsonError } from './reply.ts';
import { createRouter, type Found } from './router.ts';
import { createRoutes } from './routes.ts';
import { Sessions } from './session.ts';

export interface WebServer {
  /** Where it listens, without a trailing slash. */
  readonly url: string;
  /** Ends the streams of events, lets running answers finish for a second, then cuts. Safe to call twice. */
  close(): Promise<void>;
}

/** The server cannot listen; the message is a sentence for the operator. */
export class ListenError extends OperatorError {
  constructor(message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = 'ListenError';
  }
}

/**
 * Starts page, API, metrics and health on `settings.host` and `settings.port` (0 takes a free one). Rejects
 * with `ListenError` when the address cannot be had, or when it is not loopback and nothing protects it.
 */
export async function startWebServer(options: WebServerOptions): Promise<WebServer> {
  const { settings, views, clock, random } = options;
  requireProtection(options);
  const limits = { ...defaultLimits, ...options.limits };
  const { token } = settings;
  const sessions = token === null ? null : new Sessions({ token, key: options.ackKey, clock, random });
  const guard: Guard = { settings, sessions, attempts: new Attempts(clock) };
  const streams = new EventStreams({ views, clock, limits });
  const find = createRouter(
    createRoutes({ views, guard, streams, ackKey: options.ackKey, timezone: options.timezone ?? 'UTC' }),
  );
  const server = createServer(serverOptions(limits), (request, response) => {
    void answer({ options, limits, guard, find }, request, response);
  });
  makeRoom(server, limits.maxConnections);
  server.setTimeout(limits.idleTimeoutMs);
  server.on('clientError', refuseBrokenRequest);
  const url = await listen(server, options);
  return { url, close: closeOnce(server, streams, options) };
}

function requireProtection({ settings }: WebServerOptions): void {
  if (settings.token !== null || settings.allowUnauthenticated || isLoopbackHost(settings.host)) return;
  throw new ListenError(
    `server.host ${settings.host} can be reached from other machines: set server.token, or server.allowUnauthenticated to true`,
  );
}

function serverOptions(limits: ServerLimits): Parameters<typeof createServer>[0] {
  return {
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: limits.connectionCheckMs,
  };
}

interface Answering {
  readonly options: WebServerOptions;
  readonly limits: ServerLimits;
  readonly guard: Guard;
  readonly find: (method: string, path: string) => Found;
}

async function answer(
  answering: Answering,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = readAddress(request.url ?? '');
  try {
    if (url === null) throw new RequestError('bad_request', 'The address cannot be read.');
    send(await handle(answering, request, url), request, response);
  } catch (error) {
    // The client went away in the middle of its own request: nobody is left to answer.
    if (request.destroyed && !request.complete) return;
    send(refuse(answering.options, { error, request, url }), request, response);
  }
}

/** Path and query. A path is not resolved but appended: `//name/x` would be an address on another host. */
function readAddress(target: string): URL | null {
  return URL.parse(target.startsWith('/') ? `http://server${target}` : target, 'http://server');
}

async function handle(
  { options, limits, guard, find }: Answering,
  request: IncomingMessage,
  url: URL,
): Promise<Reply> {
  // Which of several names would count differs from server to server, and a proxy in front may have checked
  // another one.
  if ((request.headersDistinct.host?.length ?? 0) > 1)
    throw new RequestError('bad_request', 'The request names more than one host.');
  const method = request.method === 'HEAD' ? 'GET' : (request.method ?? 'GET');
  const caller = {
    method,
    path: url.pathname,
    headers: request.headers,
    address: request.socket.remoteAddress ?? '',
  };
  let found: Found;
  try {
    found = find(method, url.pathname);
  } catch (error) {
    // Who is not let in does not learn what exists.
    admit(guard, caller, 'api');
    throw error;
  }
  const { signedIn } = admit(guard, caller, found.route.access);
  const call: Call = {
    ...caller,
    query: url.searchParams,
    params: found.params,
    signedIn,
    now: options.clock.now(),
    ...bodyReaders(request, limits.maxBodyBytes),
  };
  return found.route.handle(call);
}

function refuse(
  { log, clock, timezone = 'UTC' }: WebServerOptions,
  failed: { readonly error: unknown; readonly request: IncomingMessage; readonly url: URL | null },
): Reply {
  const error = toRequestError(failed.error);
  const path = failed.url?.pathname ?? '';
  if (error.code === 'internal') log.error({ err: failed.error, path }, 'answering a request failed');
  if (!wantsPage(failed.request, path)) return sendJsonError(error);
  const frame = { now: clock.now(), timezone };
  if (error.code !== 'unauthorized') return sendErrorPage(error, frame);
  return sendToSignIn(failed.request, path + (failed.url?.search ?? ''), frame);
}

function toRequestError(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  if (error instanceof StorageError) {
    return new RequestError('unavailable', 'The database cannot be read just now. Alerting goes on.', {
      'retry-after': '5',
    });
  }
  return new RequestError('internal', 'Something went wrong here; the log says what.');
}

function wantsPage(request: IncomingMessage, path: string): boolean {
  if (path.startsWith('/api/') || path === '/events') return false;
  return (request.headers.accept ?? '').includes('text/html');
}

function send(reply: Reply, request: IncomingMessage, response: ServerResponse): void {
  for (const [name, value] of Object.entries(securityHeaders)) response.setHeader(name, value);
  if (reply.kind === 'stream') {
    if (request.method === 'HEAD') response.writeHead(200, { 'content-type': reply.type }).end();
    else reply.start(response);
    return;
  }
  // A body that was refused unread would otherwise be taken for the next request.
  if (!request.complete) response.setHeader('connection', 'close');
  response.writeHead(reply.status, { ...reply.headers, 'content-length': Buffer.byteLength(reply.body) });
  response.end(request.method === 'HEAD' ? undefined : reply.body);
}

/** What could not even be parsed: too slow, too large, or no HTTP. */
function refuseBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  const status =
    error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? '408 Request Timeout'
      : error.code === 'HPE_HEADER_OVERFLOW'
        ? '431 Request Header Fields Too Large'
        : '400 Bad Request';
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`, () => socket.destroy());
}

function listen(server: Server, { settings }: WebServerOptions): Promise<string> {
  const host = settings.host.replace(/^\[|\]$/g, '');
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(toListenError(error, settings)));
    server.listen(settings.port, host, () => resolve(describeAddress(server.address() as AddressInfo)));
  });
}

function toListenError(
  error: NodeJS.ErrnoException,
  settings: { readonly host: string; readonly port: number },
): ListenError {
  const where = `${settings.host}:${settings.port}`;
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: `${where} is already in use; set server.port to another one`,
    EACCES: `${where} may not be used by this user; ports below 1024 need a privilege`,
    EADDRNOTAVAIL: `${settings.host} is no address of this machine`,
    ENOTFOUND: `${settings.host} is no known host`,
  };
  return new ListenError(reasons[error.code ?? ''] ?? `cannot listen on ${where}: ${error.message}`, {
    cause: error,
  });
}

function describeAddress({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

function closeOnce(server: Server, streams: EventStreams, { clock }: WebServerOptions): () => Promise<void> {
  let closing: Promise<void> | null = null;
  return () => {
    closing ??= new Promise((resolve) => {
      const cancel = clock.setTimer(1_000, () => server.closeAllConnections());
      server.close(() => {
        cancel();
        resolve();
      });
      streams.close();
      server.closeIdleConnections();
    });
    return closing;
  };
}
