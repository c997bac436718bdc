import { isLoopbackHost } from '../../domain/loopback-host.ts';
import { balanceEndpoint } from '../account-service/endpoints.ts';

/** Where the balance request of an account goes. */
export type Target =
  | { readonly kind: 'allowed'; readonly origin: string; readonly path: string; readonly loopback: boolean }
  | { readonly kind: 'refused'; readonly reason: string };

/**
 * The balance address below a base address, which may have a path of its own. Refuses what would send the
 * secret in the clear: `http://` to a host that is not this machine, unless `allowInsecureHttp`.
 */
export function findTarget(baseUrl: string, allowInsecureHttp: boolean): Target {
  const url = URL.parse(baseUrl);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    return { kind: 'refused', reason: 'the base address is no http or https address' };
  }
  const loopback = isLoopbackHost(url.hostname);
  if (url.protocol === 'http:' && !loopback && !allowInsecureHttp) {
    return {
      kind: 'refused',
      reason: 'the secret is not sent over http:// to another machine (provider.allowInsecureHttp)',
    };
  }
  return {
    kind: 'allowed',
    origin: url.origin,
    path: url.pathname.replace(/\/$/, '') + balanceEndpoint.path,
    loopback,
  };
}
