import type { Readable } from 'node:stream';
import { Agent, type Dispatcher } from 'undici';
import { basicOf, isLoopbackHost } from '../domain/addresses.ts';
import type { Secret } from '../domain/secret.ts';
import type { Delivery } from '../ports/channel.ts';
import type { Clock } from '../ports/clock.ts';
import { sentences } from '../wording/phrase.ts';
import { errorCodes, explainConnectError, sayStopping } from './connect-error.ts';
import { createConnector, maxConnectionAgeMs, openProxied } from './connector.ts';
import { type DeadlineLimits, startDeadline } from './deadline.ts';
import type { HttpAnswer } from './http-answer.ts';
import type { Environment } from './proxy-variables.ts';

const told = sentences('post', {
  late: 'no complete answer in time',
  badAddress: 'the address is no URL, or a key holds what no header can',
  lost: 'the connection was lost before the answer',
});

/** The most bytes that are read of an answer: what matters in it is a word or a line. */
const maxBodyBytes = 64 * 1024;

/** The wait for the body of an answer once its status is there: a body without an end must not undo the status. */
const maxBodyMs = 3000;

/** How long an idle connection lives if the receiver does not say: usual servers and firewalls keep it as long. */
const keepAliveTimeout = 30_000;

const connectTimeoutMs = 10_000;

export interface HttpPost {
  /** `POST` when absent. */
  readonly method?: 'PUT';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
  readonly dispatcher: Dispatcher;
  readonly clock: Clock;
}

/**
 * Connections to one receiver: without a proxy to this machine, otherwise as the proxy variables say. Certificates are always verified.
 *
 * Throws `OperatorError` when a proxy variable holds no address.
 */
export function openHttpConnections(
  address: Secret,
  { clock, environment = process.env }: { readonly clock: Clock; readonly environment?: Environment },
): Dispatcher {
  const settings = { connections: 2, keepAliveTimeout, clientTtl: maxConnectionAgeMs };
  const proxied = openProxied(clock, environment, { ...settings, timeout: connectTimeoutMs });
  const host = URL.parse(address.reveal())?.hostname ?? '';
  return proxied !== null && !isLoopbackHost(host)
    ? proxied
    : new Agent({ ...settings, allowH2: false, connect: createConnector(clock, connectTimeoutMs) });
}

/**
 * One POST. Never follows a redirect. Rejects with undici's errors if no status came. After that, status and headers are the answer: of a
 * body that is too large, endless, cut or broken, the answer has the part that came.
 */
export async function postOnce(post: HttpPost): Promise<HttpAnswer> {
  const { headers, ...place } = placeOf(post.url);
  const hasOwn = Object.keys(post.headers).some((name) => /^authorization$/i.test(name));
  const response = await post.dispatcher.request({
    ...place,
    method: post.method ?? 'POST',
    headers: hasOwn ? post.headers : { ...headers, ...post.headers },
    body: post.body,
    signal: post.signal,
  });
  const start = await readStart(response.body, post.clock);
  return { status: response.statusCode, headers: response.headers, ...start };
}

/** The part of a body that comes within the limits of size and time, or before it breaks. Ends a connection that would go on. */
export async function readStart(
  body: Readable,
  clock: Clock,
): Promise<Required<Pick<HttpAnswer, 'body' | 'isCut'>>> {
  const chunks: Buffer[] = [];
  let left = maxBodyBytes;
  let isCut = false;
  let isLate = false;
  const cancelTimer = clock.setTimer(maxBodyMs, () => {
    isLate = true;
    body.destroy();
  });
  try {
    for await (const chunk of body) {
      const bytes = Buffer.from(chunk);
      chunks.push(bytes.subarray(0, left));
      left -= bytes.length;
      if (left <= 0) break;
    }
  } catch {
    isCut = !isLate;
  } finally {
    cancelTimer();
    body.destroy();
  }
  return { body: Buffer.concat(chunks).toString(), isCut };
}

/** An address as a dispatcher takes it, its user and password as HTTP Basic. Throws, with the code `ERR_INVALID_URL`, if it is no address. */
export function placeOf(url: string) {
  const address = new URL(url);
  const { origin, pathname, search } = address;
  const basic = basicOf(address);
  return {
    origin,
    path: pathname + search,
    headers: basic === null ? {} : { authorization: `Basic ${basic}` },
  };
}

/** Posts and classifies the answer under one deadline, which `outer` ends too. If `deliver` throws, there was no answer. */
export async function deliverWithin(
  limits: DeadlineLimits,
  deliver: (signal: AbortSignal) => Promise<Delivery>,
): Promise<Delivery> {
  const deadline = startDeadline(limits);
  try {
    return await deadline.within(deliver(deadline.signal));
  } catch (error) {
    if (deadline.expired()) return retry('unknown', told.late());
    if (limits.outer.aborted) return retry('unknown', sayStopping());
    return classifyTransportError(error);
  } finally {
    deadline.clear();
  }
}

/**
 * The outcome of a POST without an answer. It is `refused` only if the request surely never left: in every other case the message may have
 * arrived. The reasons never quote an error of a library, which would quote the address.
 */
function classifyTransportError(error: unknown): Delivery {
  const codes = errorCodes(error);
  const refused = explainConnectError(codes);
  if (refused !== undefined) return retry('refused', refused);
  if (codes.includes('ERR_INVALID_URL') || codes.includes('UND_ERR_INVALID_ARG'))
    return { kind: 'dead', reason: told.badAddress() };
  return retry('unknown', told.lost());
}

function retry(certainty: 'refused' | 'unknown', reason: string): Delivery {
  return { kind: 'retry', certainty, reason };
}
