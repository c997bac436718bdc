import { isLoopbackHost } from '../../domain/addresses.ts';

type Target =
  | { readonly origin: string; readonly path: string; readonly loopback: boolean }
  | { readonly reason: string };

/** An address as a connection takes it. Refuses `http://` to another machine, where a secret would go in the clear. */
export function findTarget(address: string, allowInsecureHttp: boolean): Target {
  const url = URL.parse(address);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    return { reason: 'the base address is no http or https address' };
  const loopback = isLoopbackHost(url.hostname);
  if (url.protocol === 'http:' && !loopback && !allowInsecureHttp)
    return { reason: 'the secret is not sent over http:// to another machine (provider.allowInsecureHttp)' };
  return { origin: url.origin, path: url.pathname + url.search, loopback };
}
