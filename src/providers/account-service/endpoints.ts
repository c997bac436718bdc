/**
 * The provider's documented endpoints and rate limits as data: the client takes its path from here, the
 * simulator routes and limits by it. Source: the provider's interface document, section 4 (paths) and section
 * 8 (limits). All operations use POST and carry `authSecret` in a JSON body.
 */

/** What one documented endpoint or group spends in the simulator, and reads. */
export type Operation = 'balance' | 'message' | 'lookup' | 'call' | 'account';

export interface Endpoint {
  /** Stable name of what is measured together: each group has a limit of its own, per account. */
  readonly group: string;
  readonly path: string;
  /** `exact` is one path; `group` is the path and everything below it. */
  readonly covers: 'exact' | 'group';
  readonly operation: Operation;
  /** Requests that are accepted per second and account. */
  readonly requestsPerSecond: number;
  /** Where accepted messages are passed on to the channel more slowly than they are accepted (section 8, rule 3). */
  readonly forwardedPerSecond?: number;
  /** One-time-password messaging: measured apart from all others (section 8, rule 2). */
  readonly otp?: true;
}

/** The first row that covers a path holds: the special paths stand before the groups that contain them. */
export const endpoints = [
  {
    group: 'account',
    path: '/user/account/balance',
    covers: 'exact',
    operation: 'balance',
    requestsPerSecond: 200,
  },
  { group: 'account', path: '/user/account', covers: 'group', operation: 'account', requestsPerSecond: 200 },
  {
    group: 'sms-txt-2',
    path: '/sms/txt/2',
    covers: 'group',
    operation: 'message',
    requestsPerSecond: 200,
    otp: true,
  },
  {
    group: 'sms-txt-3-send',
    path: '/sms/txt/3/send/json',
    covers: 'exact',
    operation: 'message',
    requestsPerSecond: 200,
    forwardedPerSecond: 60,
    otp: true,
  },
  {
    group: 'sms-txt-3',
    path: '/sms/txt/3',
    covers: 'group',
    operation: 'message',
    requestsPerSecond: 60,
    otp: true,
  },
  { group: 'sms-hlr', path: '/sms/hlr', covers: 'group', operation: 'lookup', requestsPerSecond: 60 },
  { group: 'call', path: '/call', covers: 'group', operation: 'call', requestsPerSecond: 200 },
] as const satisfies readonly Endpoint[];

/** The one operation that lowwater itself calls. */
export const balanceEndpoint: Endpoint = endpoints[0];

/** Codes of the envelope that the interface names (section 7). Every other code is a failure that it does not show. */
export const envelopeCodes = { success: 200, authFailed: -22, rateLimited: -32 } as const;

/**
 * The endpoint that a path belongs to; a trailing slash and a query string change nothing. Null where none is
 * documented.
 */
export function findEndpoint(url: string): Endpoint | null {
  const query = url.indexOf('?');
  const path = (query === -1 ? url : url.slice(0, query)).replace(/\/$/, '');
  return endpoints.find((endpoint) => covers(endpoint, path)) ?? null;
}

function covers(endpoint: Endpoint, path: string): boolean {
  return path === endpoint.path || (endpoint.covers === 'group' && path.startsWith(`${endpoint.path}/`));
}
