/**
 * The provider's documented endpoints and rate limits as data: the client takes its path from here, the
 * simulator routes and limits by it. Source: the provider's interface document, section 4 (paths) and section
 * 8 (limits). All operations use POST and carry `authSecret` in a JSON body.
 */

export interface Endpoint {
  /** Stable name of the endpoints that are limited together: each group has a limit of its own, per account. */
  readonly group: string;
  readonly path: string;
  /** `exact` is one path; `group` is the path and everything below it. */
  readonly covers: 'exact' | 'group';
  /** The balance that the operation spends in the simulator, and reads. */
  readonly operation: 'balance' | 'message' | 'lookup' | 'call' | 'account';
  /** Requests that are accepted per second and account. */
  readonly requestsPerSecond: number;
  /** Set if accepted messages are passed on to the channel more slowly than they are accepted (section 8, rule 3). */
  readonly forwardedPerSecond?: number;
}

/** The first row that covers a path counts, so special paths stand before the groups that contain them. */
export const endpoints: readonly [Endpoint, ...Endpoint[]] = [
  endpoint('account', '/user/account/balance', 'exact', 'balance', 200),
  endpoint('account', '/user/account', 'group', 'account', 200),
  endpoint('sms-txt-2', '/sms/txt/2', 'group', 'message', 200),
  { ...endpoint('sms-txt-3-send', '/sms/txt/3/send/json', 'exact', 'message', 200), forwardedPerSecond: 60 },
  endpoint('sms-txt-3', '/sms/txt/3', 'group', 'message', 60),
  endpoint('sms-hlr', '/sms/hlr', 'group', 'lookup', 60),
  endpoint('call', '/call', 'group', 'call', 200),
];

function endpoint(
  group: string,
  path: string,
  covers: Endpoint['covers'],
  operation: Endpoint['operation'],
  requestsPerSecond: number,
): Endpoint {
  return { group, path, covers, operation, requestsPerSecond };
}

/** The one operation that lowwater itself calls. */
export const balanceEndpoint = endpoints[0];

/** Codes of the envelope that the interface names (section 7). Every other code is a failure that the interface does not list. */
export const envelopeCodes = { success: 200, authFailed: -22, rateLimited: -32 } as const;

/** The endpoint of a path, with or without a trailing slash and a query; null if none is documented. */
export function findEndpoint(url: string): Endpoint | null {
  const query = url.indexOf('?');
  const path = (query === -1 ? url : url.slice(0, query)).replace(/\/$/, '');
  return endpoints.find((endpoint) => covers(endpoint, path)) ?? null;
}

function covers(endpoint: Endpoint, path: string): boolean {
  return path === endpoint.path || (endpoint.covers === 'group' && path.startsWith(`${endpoint.path}/`));
}
