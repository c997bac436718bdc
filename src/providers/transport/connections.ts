import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Socket } from 'node:net';
import { Client, type Dispatcher } from 'undici';
import { minuteMs } from '../../domain/time.ts';
import { createConnector, maxConnectionAgeMs, openProxied } from '../../net/connector.ts';
import type { Environment } from '../../net/proxy-variables.ts';
import type { Clock } from '../../ports/clock.ts';

/** How long an idle connection lives if the server gives no hint: longer than the usual poll interval of five minutes. */
const keepAliveMs = 6 * minuteMs;

/** The longest hint of a server (`Keep-Alive: timeout=`) that is believed. */
const maxKeepAliveMs = 30 * minuteMs;

/** Idle connections are closed this much before the server would close them, so that a request does not cross its close. */
const keepAliveMarginMs = 2_000;

export type Connections = ReturnType<typeof openConnections>;

/**
 * Connections to providers, kept warm: a new TLS handshake costs as much as forty requests. Each request has a connection of its own while it
 * runs, so that no request waits behind one that hangs; their number is not limited. HTTP/2 is off for the same reason. Certificates are
 * always verified.
 */
export function openConnections(options: {
  readonly clock: Clock;
  /** The longest wait for a connection. The deadline of the request ends sooner; this frees the socket. */
  readonly connectTimeoutMs: number;
  /** The source of `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, in upper or lower case. */
  readonly environment: Environment;
}) {
  const stopWatching = watchRequests();
  const { clock, connectTimeoutMs } = options;
  const kept = {
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: maxKeepAliveMs,
    keepAliveTimeoutThreshold: keepAliveMarginMs,
    // The client's own deadline covers the whole exchange; undici's timers would only cost time.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  const direct = new WarmClients(clock, { ...kept, connect: createConnector(clock, connectTimeoutMs) });
  const proxied = openProxied(clock, options.environment, {
    ...kept,
    pipelining: 1,
    timeout: connectTimeoutMs,
  });
  return {
    /** The dispatcher for an address: direct for this machine, otherwise as the proxy variables say. */
    to: (loopback: boolean) => (loopback || proxied === null ? direct : proxied),
    /** Whether the error ended a connection that had carried answers before, but no byte since the request was sent. */
    wasDeadOnArrival: (error: unknown) => error instanceof Error && deadOnArrival.has(error),
    /** Ends every connection at once. */
    async close(): Promise<void> {
      stopWatching();
      await Promise.all([direct.destroy(), proxied?.destroy()]);
    },
  };
}

/** undici's diagnostics channel, which reports when the head of a request is written to its connection. */
const requestWritten = 'undici:client:sendHeaders';

/** Errors of connections that had brought answers, but nothing after the last request was written. */
const deadOnArrival = new WeakSet<Error>();
const readBefore = new WeakMap<Socket, number>();
let watching = 0;

/** Notes the bytes read before a request. If the answer itself broke the connection, even by its first byte, the provider had the request. */
function noteWritten(event: unknown): void {
  const socket: unknown = Reflect.get(Object(event), 'socket');
  if (!(socket instanceof Socket)) return;
  if (!readBefore.has(socket)) {
    socket.on('error', (error) => {
      if (socket.bytesRead > 0 && socket.bytesRead === readBefore.get(socket)) deadOnArrival.add(error);
    });
  }
  readBefore.set(socket, socket.bytesRead);
}

/** One watch for the connections of all entries, because each watch adds a listener to every socket. Returns a function that ends it. */
function watchRequests(): () => void {
  if (watching === 0) subscribe(requestWritten, noteWritten);
  watching += 1;
  return () => {
    watching -= 1;
    if (watching === 0) unsubscribe(requestWritten, noteWritten);
  };
}

interface OriginRequest extends Dispatcher.DispatchOptions {
  readonly origin: string;
}

/**
 * Kept connections, by origin. Each request has one of its own while it runs; their number is not limited. The connection that came free last
 * is used first, so that no more stay warm than are needed at once.
 *
 * undici's own pool looks through all of its connections for a free one, twice for each request: with some hundreds under way that costs more
 * than the requests themselves. Here the free ones are known.
 */
export class WarmClients {
  readonly #clock: Clock;
  readonly #options: Client.Options;
  readonly #all = new Set<Client>();
  readonly #free = new Map<string, Client[]>();
  readonly #connectedAt = new WeakMap<Client, number>();
  #ended = false;

  constructor(clock: Clock, options: Client.Options) {
    this.#clock = clock;
    this.#options = { ...options, pipelining: 1, allowH2: false };
  }

  dispatch(request: OriginRequest, handler: Dispatcher.DispatchHandler): void {
    const client = this.#take(request.origin) ?? this.#open(request.origin);
    // It takes one request at a time and is busy until it says `drain`, unless the request was held back.
    if (client.dispatch(request, handler)) this.#free.get(request.origin)?.push(client);
  }

  /** Ends every connection at once; requests from now on fail. */
  async destroy(): Promise<void> {
    this.#ended = true;
    await Promise.all([...this.#all].map((client) => client.destroy()));
  }

  /** A free one that is not too old. */
  #take(origin: string): Client | undefined {
    const client = this.#free.get(origin)?.pop();
    if (client === undefined) return undefined;
    const connectedAt = this.#connectedAt.get(client) ?? Number.POSITIVE_INFINITY;
    if (this.#clock.monotonic() - connectedAt < maxConnectionAgeMs) return client;
    this.#all.delete(client);
    void client.destroy();
    return this.#take(origin);
  }

  #open(origin: string): Client {
    const client = new Client(origin, this.#options);
    if (this.#ended) void client.destroy();
    const free = this.#free.get(origin) ?? [];
    this.#free.set(origin, free);
    this.#all.add(client);
    client.on('connect', () => this.#connectedAt.set(client, this.#clock.monotonic()));
    client.on('drain', () => free.push(client));
    return client;
  }
}
