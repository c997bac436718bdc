import { parseJsonObject } from '../domain/json.ts';
import { formatMicros } from '../domain/money.ts';
import { type Endpoint, envelopeCodes, findEndpoint } from '../providers/account-service/endpoints.ts';
import type { SimulatedAccount } from './account.ts';
import type { SimulatedWorld } from './world.ts';

/** One request as it arrived, its body read. */
export interface SimulatedRequest {
  readonly method: string;
  readonly url: string;
  readonly body: 'json-object' | 'malformed' | 'too-large' | 'other-type';
  /** The account that the request's secret belongs to, also while its key is revoked; null where it belongs to none. */
  readonly account: SimulatedAccount | null;
}

export interface SimulatedAnswer {
  readonly status: number;
  readonly body: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
}

/**
 * Codes and texts for mistakes that the interface does not show: the simulator's own choice. So are the HTTP
 * statuses beside -22 and -32, the names of the usage headers, and the payloads of everything but the
 * balance.
 */
const ownCodes = { malformed: -1, notFound: -2, methodNotAllowed: -3, tooLarge: -4, otherType: -5 } as const;

const none: readonly string[] = [];

/** Reads a request's body; null where it was larger than the simulator reads. `type` is its `Content-Type`. */
export function readRequest(
  world: SimulatedWorld,
  body: string | null,
  type: string | undefined,
): Pick<SimulatedRequest, 'body' | 'account'> {
  if (!isJsonType(type)) return { body: 'other-type', account: null };
  if (body === null) return { body: 'too-large', account: null };
  const fields = parseJsonObject(body);
  if (fields === null) return { body: 'malformed', account: null };
  const secret = fields.authSecret;
  return { body: 'json-object', account: typeof secret === 'string' ? world.findBySecret(secret) : null };
}

/** Answers as the documented interface does: route, authenticate, limit, charge, reply. */
export function answerRequest(world: SimulatedWorld, request: SimulatedRequest): SimulatedAnswer {
  const endpoint = findEndpoint(request.url);
  if (endpoint === null) return refuse(404, ownCodes.notFound, 'no such path');
  if (request.method !== 'POST') return refuse(405, ownCodes.methodNotAllowed, 'use POST', ['allow', 'POST']);
  if (request.body === 'other-type')
    return refuse(415, ownCodes.otherType, 'the Content-Type of the request is not application/json');
  if (request.body === 'too-large') return refuse(413, ownCodes.tooLarge, 'request body too large');
  if (request.body === 'malformed')
    return refuse(400, ownCodes.malformed, 'the request body is not a JSON object');
  const { account } = request;
  if (account === null || !account.keyValid)
    return refuse(400, envelopeCodes.authFailed, 'auth secret error!');
  const accepted = account.takePlace(endpoint, world.now());
  const headers = describeUsage(account, endpoint);
  if (!accepted) return refuse(429, envelopeCodes.rateLimited, 'Too Many Requests', headers);
  world.charge(account, endpoint);
  return { status: 200, body: success(world, account, endpoint), headers };
}

function success(world: SimulatedWorld, account: SimulatedAccount, endpoint: Endpoint): string {
  account.settleForwarded(world.now());
  return `{"msg":"SUCCESS","code":${envelopeCodes.success},"result":${describeResult(world, account, endpoint)}}`;
}

function describeResult(world: SimulatedWorld, account: SimulatedAccount, endpoint: Endpoint): string {
  if (endpoint.operation !== 'balance') return '{}';
  const now = world.scenarioNow();
  const sms = formatMicros(account.balance('sms', now));
  const voip = formatMicros(account.balance('voip', now));
  return `{"smsBalance":${sms},"voipBalance":${voip},"currency":${JSON.stringify(account.currency)}}`;
}

function describeUsage(account: SimulatedAccount, endpoint: Endpoint): readonly string[] {
  const { perSecond, remaining } = account.window(endpoint);
  return [
    'x-ratelimit-limit',
    `${perSecond}`,
    'x-ratelimit-remaining',
    `${remaining}`,
    'x-ratelimit-reset',
    '1',
  ];
}

function refuse(status: number, code: number, msg: string, headers = none): SimulatedAnswer {
  return { status, body: JSON.stringify({ msg, code }), headers };
}

/** The interface asks for `application/json` (section 4); parameters such as a charset change nothing. */
function isJsonType(type: string | undefined): boolean {
  return type?.split(';', 1)[0]?.trim().toLowerCase() === 'application/json';
}
