import { Agent, type Dispatcher, EnvHttpProxyAgent } from 'undici';
import { isLoopbackHost } from '../domain/loopback-host.ts';
import type { Secret } from '../domain/secret.ts';
import type { Delivery } from '../ports/channel.ts';
import type { Clock } from '../ports/clock.ts';
import { errorCodes, explainConnectError } from './connect-error.ts';
import { startDeadline } from './deadline.ts';
import type { HttpAnswer } from './http-answer.ts';
import { type Environment, readProxyVariables } from './proxy-variables.ts';

/** The most that is read of an answer: what receivers say that matters is a word or a line. */
const answerLimit = 64 * 1024;

/**
 * How long an idle connection is kept for the next message where the receiver does not say (`Keep-Alive`, which is obeyed): as
 * long as every usual server and firewall lets it live.
 */
const keepAliveTimeout = 30_000;

/** Said explicitly, so that `NODE_TLS_REJECT_UNAUTHORIZED` in the environment changes nothing. */
const verified = { rejectUnauthorized: true } as const;

export interface HttpPost {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
  readonly dispatcher: Dispatcher;
}

/**
 * Connections to one receiver: past any proxy for this machine, else as the proxy variables say. Certificates
 * are always verified. No HTTP/2: receivers take one message at a time, and the simpler protocol tells a
 * refused connection from a lost one.
 *
 * Throws `ProxyVariableError` when a proxy variable holds no address.
 */
export function openHttpConnections(address: Secret, environment: Environment = process.env): Dispatcher {
  const settings = {
    allowH2: false,
    connections: 2,
    maxResponseSize: answerLimit,
    keepAliveTimeout,
    connect: { ...verified, timeout: 10_000 },
  };
  const proxies = readProxyVariables(environment);
  const host = URL.parse(address.reveal())?.hostname ?? '';
  return proxies === null || isLoopbackHost(host)
    ? new Agent(settings)
    : new EnvHttpProxyAgent({ ...settings, requestTls: verified, proxyTls: verified, ...proxies });
}

/** One POST. Never follows a redirect. Rejects with undici's errors. */
export async function postOnce(post: HttpPost): Promise<HttpAnswer> {
  const response = await post.dispatcher.request({
    ...placeOf(post.url),
    method: 'POST',
    headers: post.headers,
    body: post.body,
    signal: post.signal,
  });
  return { status: response.statusCode, headers: response.headers, body: await response.body.text() };
}

/** An address as a dispatcher takes it. Throws, with the code `ERR_INVALID_URL`, where it is none. */
export function placeOf(url: string): { readonly origin: string; readonly path: string } {
  const { origin, pathname, search } = new URL(url);
  return { origin, path: pathname + search };
}

/**
 * Runs what posts and classifies the answer under one deadline, which also ends with `outer`. What it throws
 * is taken for the end of the exchange, see `classifyTransportError`.
 */
export async function deliverWithin(
  limits: { readonly clock: Clock; readonly afterMs: number; readonly outer: AbortSignal },
  deliver: (signal: AbortSignal) => Promise<Delivery>,
): Promise<Delivery> {
  const deadline = startDeadline(limits);
  try {
    return await deadline.within(deliver(deadline.signal));
  } catch (error) {
    return classifyTransportError(error, { expired: deadline.expired(), gaveUp: limits.outer.aborted });
  } finally {
    deadline.clear();
  }
}

/**
 * How a POST without an answer ended. `refused` only where the request surely never left: the message may
 * have arrived in every other case. The reasons never quote an error of a library, which would quote the
 * address.
 */
function classifyTransportError(
  error: unknown,
  order: { readonly expired: boolean; readonly gaveUp: boolean },
): Delivery {
  if (order.expired) return { kind: 'retry', certainty: 'unknown', reason: 'no complete answer in time' };
  if (order.gaveUp)
    return { kind: 'retry', certainty: 'unknown', reason: 'given up because lowwater is stopping' };
  const codes = errorCodes(error);
  const refused = explainConnectError(codes);
  if (refused !== undefined) return { kind: 'retry', certainty: 'refused', reason: refused };
  if (codes.includes('ERR_INVALID_URL') || codes.includes('UND_ERR_INVALID_ARG'))
    return { kind: 'dead', reason: 'the address is no URL' };
  if (codes.includes('UND_ERR_RES_EXCEEDED_MAX_SIZE'))
    return { kind: 'retry', certainty: 'unknown', reason: 'the answer is too large' };
  return { kind: 'retry', certainty: 'unknown', reason: 'the connection was lost before the answer' };
}
