import type { Dispatcher } from 'undici';
import { keyOf, parseJsonObject } from '../../domain/json.ts';
import type { Secret } from '../../domain/secret.ts';
import type { ServerSettings } from '../../domain/settings.ts';
import { CommandError } from '../command.ts';

/** What the running daemon said. `absent`: nobody listens at the address. */
export type DaemonAnswer =
  | { readonly kind: 'answered'; readonly body: unknown; readonly database: string | null }
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

/** Where a daemon listens, and what it asks for. */
export interface DaemonAddress {
  /** `http://127.0.0.1:8080`, without a trailing slash. */
  readonly url: string;
  readonly token: Secret | null;
}

const usualPatienceMs = 5000;
const connectPatienceMs = 3000;
/** A year of readings every five minutes. */
const maxAnswerBytes = 64 * 1024 * 1024;

/**
 * Sends one request to a daemon's HTTP server, past any proxy. Throws `CommandError` when something answers that is no
 * lowwater, or nothing comes in time: what became of an order is unknown then.
 */
export async function askDaemon(
  { url, token }: DaemonAddress,
  { method, path, body, patienceMs = usualPatienceMs }: DaemonRequest,
): Promise<DaemonAnswer> {
  // Loaded for those who ask alone: it is a good part of what a command loads.
  const { Agent } = await import('undici');
  const agent = new Agent({
    maxResponseSize: maxAnswerBytes,
    connectTimeout: connectPatienceMs,
    headersTimeout: patienceMs,
    bodyTimeout: patienceMs,
  });
  try {
    const response = await agent.request({
      origin: url,
      path,
      method,
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === null ? {} : { authorization: bearerOf(token.reveal()) }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return await readAnswer(response, url);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    if (absentCodes.has(code)) return { kind: 'absent' };
    const unknown = method === 'GET' ? '' : '; whether it took the order is not known';
    throw new CommandError(`the daemon at ${url} did not answer (${code})${unknown}`);
  } finally {
    await agent.destroy();
  }
}

/** Headers carry bytes: a token beyond ASCII goes as UTF-8. */
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
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Where the server of a configuration is reached from its own machine; null where it has none, or takes any free port. */
export function addressOf(server: Pick<ServerSettings, 'host' | 'port'> | null): string | null {
  if (server === null || server.port === 0) return null;
  const host = server.host.replace(/^\[|\]$/g, '');
  return reachable(`http://${host.includes(':') ? `[${host}]` : host}:${server.port}`);
}

/** A server that listens on every address is reached on this machine's own. */
export function reachable(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}

async function readAnswer(response: Dispatcher.ResponseData, url: string): Promise<DaemonAnswer> {
  const body = parseJsonObject(await response.body.text());
  if (body === null)
    throw new CommandError(`what answers at ${url} is not lowwater (HTTP ${response.statusCode})`);
  const header = response.headers['lowwater-database'];
  const database = typeof header === 'string' ? header : null;
  if (response.statusCode < 300) return { kind: 'answered', body, database };
  const message = keyOf(body.error, 'message');
  const realm = String(response.headers['www-authenticate'] ?? '');
  return {
    kind: 'refused',
    status: response.statusCode,
    message: typeof message === 'string' ? message : `HTTP ${response.statusCode}`,
    database,
    isLowwater: database !== null || realm.includes('realm="lowwater"'),
  };
}
