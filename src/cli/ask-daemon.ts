import type { Dispatcher } from 'undici';
import { parseJsonObject } from '../domain/json.ts';
import type { ServerSettings } from '../domain/settings.ts';
import { CommandError, type CommandInput, exitCodes } from './command.ts';
import type { CommandContext } from './context.ts';
import { printJson } from './terminal/output.ts';

/** What the running daemon said. `absent`: nobody listens where the configuration says that it would. */
export type DaemonAnswer =
  | { readonly kind: 'answered'; readonly body: unknown }
  | { readonly kind: 'refused'; readonly status: number; readonly message: string }
  | { readonly kind: 'absent' };

const usualPatienceMs = 5000;

const largestAnswer = 1024 * 1024;

/**
 * Sends one request to the daemon's HTTP server, with the token of the configuration and past any proxy.
 * Throws `CommandError` when something answers that is no lowwater, or nothing comes in time: what became of
 * the order is unknown then.
 */
export async function askDaemon(
  server: ServerSettings | null,
  order: {
    readonly method: 'GET' | 'POST' | 'DELETE';
    readonly path: string;
    readonly body?: object;
    /** How long an answer may take. */
    readonly patienceMs?: number;
  },
): Promise<DaemonAnswer> {
  if (server === null || server.port === 0) return { kind: 'absent' };
  const address = addressOf(server);
  // Loaded for those who ask alone: it is a good part of what a command loads.
  const { Agent } = await import('undici');
  const agent = new Agent({
    maxResponseSize: largestAnswer,
    headersTimeout: order.patienceMs ?? usualPatienceMs,
    bodyTimeout: order.patienceMs ?? usualPatienceMs,
  });
  try {
    const response = await agent.request({
      origin: address,
      path: order.path,
      method: order.method,
      headers: {
        accept: 'application/json',
        ...(order.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(server.token === null ? {} : { authorization: bearerOf(server.token.reveal()) }),
      },
      ...(order.body === undefined ? {} : { body: JSON.stringify(order.body) }),
    });
    return await readAnswer(response, address);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    if (absentCodes.has(code)) return { kind: 'absent' };
    throw new CommandError(
      `the daemon at ${address} did not answer (${code}); whether it took the order is not known`,
    );
  } finally {
    await agent.destroy();
  }
}

/** Commands that order something print what became of it as JSON too. */
export const orderedJsonOption = { summary: 'print JSON' } as const;

/**
 * What became of an order that the daemon answered, or that lies in the database because no daemon did: a sentence, or what it
 * was about as JSON, with `inForce` for whether a daemon has taken it already.
 */
export async function printOrdered(
  context: CommandContext,
  input: CommandInput,
  said: { readonly about: object; readonly sentence: string; readonly answer: DaemonAnswer },
): Promise<number> {
  const inForce = said.answer.kind === 'answered';
  const later =
    ' No daemon answered over HTTP: the order is in the database, and the daemon takes it within 2 seconds, or when it starts.';
  if (input.flag('json')) await printJson(context, { ...said.about, inForce });
  else await context.stdout.write(`${said.sentence}${inForce ? '' : later}\n`);
  return exitCodes.ok;
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

/** A server that listens on every address is reached on this machine's own. */
function addressOf({ host, port }: ServerSettings): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

async function readAnswer(response: Dispatcher.ResponseData, address: string): Promise<DaemonAnswer> {
  const body = parseJsonObject(await response.body.text());
  if (body === null)
    throw new CommandError(`what answers at ${address} is no lowwater (HTTP ${response.statusCode})`);
  if (response.statusCode < 300) return { kind: 'answered', body };
  return {
    kind: 'refused',
    status: response.statusCode,
    message: messageOf(body) ?? `HTTP ${response.statusCode}`,
  };
}

/** The sentence in `{"error":{"code","message"}}`. */
function messageOf(body: object): string | null {
  const { error } = body as { readonly error?: unknown };
  if (typeof error !== 'object' || error === null) return null;
  const { message } = error as { readonly message?: unknown };
  return typeof message === 'string' ? message : null;
}
