import type { Agent, IncomingHttpHeaders } from 'node:http';
import { keyOf, parseJsonObject } from '../../domain/json.ts';
import type { Secret } from '../../domain/secret.ts';
import type { ServerSettings } from '../../domain/settings.ts';
import { CommandError, UsageError } from '../command.ts';

/** The answer of the running daemon. `absent`: nobody listens at the address. */
export type DaemonAnswer =
  | {
      readonly kind: 'answered';
      readonly body: unknown;
      readonly database: string | null;
      /** Whether the order is only in memory, because the database cannot be written. */
      readonly isUnstored?: boolean;
      /** Whether the daemon has left the order for the owner of the accounts. */
      readonly isLeft: boolean;
    }
  | {
      readonly kind: 'refused';
      readonly status: number;
      readonly message: string;
      readonly database: string | null;
      readonly isLowwater: boolean;
    }
  | { readonly kind: 'absent' };

export interface DaemonRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: object;
  readonly patienceMs?: number;
}

/** An id as a part of a path. Throws `UsageError` for `.` and `..`, which would change the path: nothing has such an id. */
export function inPath(id: string): string {
  if (/^\.{1,2}$/.test(id)) throw new UsageError(`"${id}" is not a valid id`);
  return encodeURIComponent(id);
}

/** The address of a daemon, and the token that it asks for. */
export interface DaemonAddress {
  /** `http://127.0.0.1:8080`, without a trailing slash. */
  readonly url: string;
  readonly token: Secret | null;
}

const usualPatienceMs = 5000;
const connectPatienceMs = 3000;
/** Enough for a year of readings every five minutes. */
const maxAnswerBytes = 64 * 1024 * 1024;

/** Asks directly, without a proxy. Throws `CommandError` if no lowwater answers, or nothing comes: whether an order was done is then unknown. */
export async function askDaemon(address: DaemonAddress, request: DaemonRequest): Promise<DaemonAnswer> {
  const { url } = address;
  try {
    return readAnswer(await send(address, request), url);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    if (absentCodes.has(code)) return { kind: 'absent' };
    const unknown = request.method === 'GET' ? '' : '; whether it took the order is not known';
    throw new CommandError(`the daemon at ${url} did not answer (${code})${unknown}`);
  }
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Connections that several requests share. An idle one does not keep the process alive. */
const agents = new Map<string, Agent>();

/** Uses Node's own client, because undici takes 50 ms to load. */
async function send(
  { url, token }: DaemonAddress,
  { method, path, body, patienceMs = usualPatienceMs }: DaemonRequest,
): Promise<Answer> {
  const address = new URL(path, url);
  const { request, Agent } = await (address.protocol === 'https:'
    ? import('node:https')
    : import('node:http'));
  const agent = agents.get(address.protocol) ?? new Agent({ keepAlive: true });
  agents.set(address.protocol, agent);
  const headers = {
    accept: 'application/json',
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(token === null ? {} : { authorization: bearerOf(token.reveal()) }),
  };
  return new Promise((resolve, reject) => {
    const asking = request(address, { method, headers, agent, timeout: connectPatienceMs }, (response) => {
      const parts: Buffer[] = [];
      let bytes = 0;
      response.on('data', (part: Buffer) => {
        bytes += part.length;
        if (bytes > maxAnswerBytes) asking.destroy(failed('too large'));
        else parts.push(part);
      });
      response.on('error', reject);
      response.on('end', () => {
        const { statusCode: status = 0, headers } = response;
        resolve({ status, headers, text: Buffer.concat(parts).toString('utf8') });
      });
    });
    let connected = false;
    asking.on('socket', (socket) => {
      const wait = (): void => {
        connected = true;
        asking.setTimeout(patienceMs);
      };
      if (socket.connecting) socket.once('connect', wait);
      else wait();
    });
    asking.on('timeout', () => asking.destroy(failed(connected ? 'nothing came in time' : 'ETIMEDOUT')));
    asking.on('error', reject);
    asking.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

function failed(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** Headers carry bytes, so a token beyond ASCII is sent as UTF-8. */
function bearerOf(token: string): string {
  return `Bearer ${Buffer.from(token, 'utf8').toString('latin1')}`;
}

const absentCodes = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EADDRNOTAVAIL',
  'ETIMEDOUT',
]);

/** The address of a configuration's server on its own machine; null if it has none, or if it takes any free port. */
export function addressOf(server: Pick<ServerSettings, 'host' | 'port'> | null): string | null {
  if (server === null || server.port === 0) return null;
  const host = server.host.replace(/^\[|\]$/g, '');
  return reachable(`http://${host.includes(':') ? `[${host}]` : host}:${server.port}`);
}

/** The address on this machine of a server that listens on every address. */
export function reachable(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}

function readAnswer({ status, headers, text }: Answer, url: string): DaemonAnswer {
  const body = parseJsonObject(text);
  if (body === null) throw new CommandError(`what answers at ${url} is not lowwater (HTTP ${status})`);
  const header = headers['lowwater-database'];
  const database = typeof header === 'string' ? header : null;
  if (status < 300) {
    const isLeft = headers['lowwater-order'] === 'left' && typeof body.heldBy !== 'string';
    const isUnstored = headers['lowwater-stored'] === 'false';
    return { kind: 'answered', body, database, isLeft, isUnstored };
  }
  const message = keyOf(body.error, 'message');
  const realm = String(headers['www-authenticate'] ?? '');
  return {
    kind: 'refused',
    status,
    message: typeof message === 'string' ? message : `HTTP ${status}`,
    database,
    isLowwater: database !== null || realm.includes('realm="lowwater"'),
  };
}
