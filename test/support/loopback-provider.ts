import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import {
  type AddressInfo,
  createServer as createSocketServer,
  type Socket,
  type Server as SocketServer,
} from 'node:net';
import type { Outcome } from '../../src/domain/reading.ts';
import { Secret } from '../../src/domain/secret.ts';
import type { AccountSettings } from '../../src/domain/settings.ts';
import {
  accountServiceBalances,
  accountServiceKind,
} from '../../src/providers/account-service/account-service-kind.ts';
import { createProviderClient, type ProviderClientOptions } from '../../src/providers/transport/client.ts';
import { systemClock } from '../../src/system/clock.ts';
import { systemRandom } from '../../src/system/random.ts';
import { makeProvider } from './settings.ts';

export const secretText = 'loopback-secret-4711';

export const okBody =
  '{"msg":"SUCCESS","code":200,"result":{"smsBalance":-18.383000000000003,"voipBalance":0,"currency":"CNY"}}';

export interface Listening {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/** An HTTP server on loopback that answers as the test says. */
export function listenHttp(answer: RequestListener): Promise<Listening> {
  return listen(createServer({ keepAliveTimeout: 60_000 }, answer), 'http');
}

export function listenTls(
  certificate: { key: string; cert: string } & ServerOptions,
  answer: RequestListener,
): Promise<Listening> {
  return listen(createTlsServer(certificate, answer), 'https');
}

/** A server that sends exactly what the test writes to the socket. */
export async function listenSockets(serve: (socket: Socket) => void): Promise<Listening> {
  const sockets = new Set<Socket>();
  const server = createSocketServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    serve(socket);
  });
  const listening = await listen(server, 'http');
  return {
    ...listening,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await listening.close();
    },
  };
}

function listen(server: Server | SocketServer, scheme: string): Promise<Listening> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      const close = () =>
        new Promise<void>((done) => {
          server.close(() => done());
          if ('closeAllConnections' in server) server.closeAllConnections();
        });
      resolve({ url: `${scheme}://127.0.0.1:${port}`, port, close });
    });
  });
}

export function send(
  response: ServerResponse,
  answer: { status?: number; body?: string; headers?: Record<string, string> },
): void {
  response.writeHead(answer.status ?? 200, answer.headers);
  response.end(answer.body ?? okBody);
}

export function readText(request: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    request.on('data', (chunk) => {
      text += String(chunk);
    });
    request.on('end', () => resolve(text));
  });
}

export function accountAt(baseUrl: string, secret = secretText): AccountSettings {
  return {
    id: 'otp',
    name: 'OTP',
    provider: 'provider',
    credentials: { authSecret: new Secret(secret) },
    baseUrl,
    balances: accountServiceBalances,
    currency: null,
    labels: {},
    topUpUrl: null,
    runbookUrl: null,
    note: null,
    poll: { kind: 'every', everyMs: 300_000 },
    nearEmptyMs: null,
    timezone: 'UTC',
    holidays: [],
    keyFrom: null,
    creditLimitMicros: 0,
    leadTimeMs: null,
  };
}

interface TestClientOptions extends Partial<ProviderClientOptions> {
  readonly timeoutMs?: number;
  readonly allowInsecureHttp?: boolean;
}

export function createTestClient(options: TestClientOptions = {}) {
  const { timeoutMs = 5000, allowInsecureHttp = false, ...rest } = options;
  return createProviderClient({
    kind: accountServiceKind,
    entry: makeProvider({ timeoutMs, allowInsecureHttp }),
    clock: systemClock,
    random: systemRandom,
    environment: {},
    ...rest,
  });
}

/** One reading with a client of its own. */
export async function readOnce(baseUrl: string, options: TestClientOptions = {}): Promise<Outcome> {
  const client = createTestClient(options);
  const outcome = await client.readBalance(accountAt(baseUrl), new AbortController().signal);
  await client.close();
  return outcome;
}

/** Reads from a server that exists for this one answer. */
export async function readFrom(answer: RequestListener, options: TestClientOptions = {}): Promise<Outcome> {
  const server = await listenHttp(answer);
  const outcome = await readOnce(server.url, options);
  await server.close();
  return outcome;
}

/** Reads from a server that exists for this one conversation. */
export async function readFromSockets(
  serve: (socket: Socket) => void,
  options: TestClientOptions = {},
): Promise<Outcome> {
  const server = await listenSockets(serve);
  const outcome = await readOnce(server.url, options);
  await server.close();
  return outcome;
}
