import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseJsonObject } from '../domain/json.ts';
import { formatMicros } from '../domain/money.ts';
import { type ServiceAddress, startHttpService } from '../net/http-service.ts';
import { type Endpoint, envelopeCodes, findEndpoint } from '../providers/account-service/endpoints.ts';
import type { SimulatedAccount } from './account.ts';
import { type Fault, SimulatedWorld, type WorldOptions } from './world.ts';

export interface SimulatorOptions extends ServiceAddress, WorldOptions {
  /** Called with each request's path and account; null for an account that nobody knows. */
  readonly onRequest?: (url: string, account: string | null) => void;
  /** Whether `Date` goes by `clock`, if the client has another clock: a client takes an old `Date` for a stored answer. */
  readonly ownDate?: boolean;
}

export type Simulator = Awaited<ReturnType<typeof startSimulator>>;

/**
 * Codes and texts for mistakes that the interface does not show: the simulator's own choice. So are the HTTP statuses other than those of -22
 * and -32, the names of the usage headers, and all payloads except the balance.
 */
const ownCodes = { malformed: -1, notFound: -2, methodNotAllowed: -3, tooLarge: -4, otherType: -5 } as const;

/** The interface asks for `application/json` (section 4); parameters such as a charset make no difference. */
const jsonType = /^\s*application\/json\s*(?:;|$)/i;

/** The documented interface of the provider, played by a script. Rejects if it cannot listen on the address. */
export async function startSimulator(options: SimulatorOptions) {
  const world = new SimulatedWorld(options);
  const service = await startHttpService(options, (request, response, body) => {
    world.advance();
    if (options.ownDate === true) response.setHeader('date', new Date(options.clock.now()).toUTCString());
    const fields = isJson(request) && body !== null ? parseJsonObject(body) : null;
    const account = world.findBySecret(fields?.authSecret);
    const id = account?.id ?? null;
    options.onRequest?.(request.url ?? '/', id);
    const fault = world.fault(id);
    const send = (): void =>
      fault === null
        ? reply(response, answerRequest(world, request, body, account))
        : misbehave(response, fault);
    const latencyMs = world.latencyMs(id);
    if (latencyMs === 0) send();
    else options.clock.setTimer(latencyMs, send);
  });
  return { ...service, world };
}

function isJson({ headers }: IncomingMessage): boolean {
  return jsonType.test(headers['content-type'] ?? '');
}

/** `body` is null if it was too large; `account` is null if the secret belongs to none, but known even while its key is revoked. */
function answerRequest(
  world: SimulatedWorld,
  request: IncomingMessage,
  body: string | null,
  account: SimulatedAccount | null,
): SimulatedAnswer {
  const endpoint = findEndpoint(request.url ?? '/');
  if (endpoint === null) return refuse(404, ownCodes.notFound, 'no such path');
  if (request.method !== 'POST') return refuse(405, ownCodes.methodNotAllowed, 'use POST', ['allow', 'POST']);
  if (!isJson(request))
    return refuse(415, ownCodes.otherType, 'the Content-Type of the request is not application/json');
  if (body === null) return refuse(413, ownCodes.tooLarge, 'request body too large');
  if (parseJsonObject(body) === null)
    return refuse(400, ownCodes.malformed, 'the request body is not a JSON object');
  if (account === null || !account.keyValid)
    return refuse(400, envelopeCodes.authFailed, 'auth secret error!');
  const window = account.window(endpoint);
  const isAccepted = window.take(world.now());
  const limit = ['x-ratelimit-limit', `${window.perSecond}`, 'x-ratelimit-remaining', `${window.remaining}`];
  const headers = [...limit, 'x-ratelimit-reset', '1'];
  if (!isAccepted) return refuse(429, envelopeCodes.rateLimited, 'Too Many Requests', headers);
  world.charge(account, endpoint);
  account.settleForwarded(world.now());
  const result = describeResult(world, account, endpoint);
  return {
    status: 200,
    body: `{"msg":"SUCCESS","code":${envelopeCodes.success},"result":${result}}`,
    headers,
  };
}

function describeResult(world: SimulatedWorld, account: SimulatedAccount, endpoint: Endpoint): string {
  if (endpoint.operation !== 'balance') return '{}';
  const now = world.scenarioNow();
  const sms = formatMicros(account.balance('sms', now));
  const voip = formatMicros(account.balance('voip', now));
  return `{"smsBalance":${sms},"voipBalance":${voip},"currency":${JSON.stringify(account.currency)}}`;
}

type SimulatedAnswer = ReturnType<typeof refuse>;

/** `headers` are names and values in turn. */
function refuse(status: number, code: number, msg: string, headers: readonly string[] = []) {
  return { status, body: JSON.stringify({ msg, code }), headers };
}

function reply(response: ServerResponse, { status, body, headers }: SimulatedAnswer): void {
  const length = String(Buffer.byteLength(body));
  response.writeHead(status, ['content-type', 'application/json', 'content-length', length, ...headers]);
  response.end(body);
}

function misbehave(response: ServerResponse, fault: Fault): void {
  switch (fault.kind) {
    case 'hang':
      return;
    case 'reset':
      response.socket?.resetAndDestroy();
      return;
    case 'truncated':
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 });
      response.write('{"m', () => response.destroy());
      return;
    case 'http-error':
      response.writeHead(fault.status, { 'content-type': 'text/html' });
      response.end(`<html><body><h1>${fault.status}</h1></body></html>`);
      return;
    case 'body':
      response.writeHead(fault.status, { 'content-type': 'application/json', ...fault.headers });
      response.end(fault.body);
  }
}
