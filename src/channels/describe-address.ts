import { isLoopbackHost } from '../domain/addresses.ts';
import type { Secret } from '../domain/secret.ts';
import type { ChannelKind, ChannelSurroundings } from './kind.ts';

/** The part of an address that may be shown: scheme, host and port. */
export function hostOf(address: Secret): string {
  const url = URL.parse(address.reveal());
  return url === null ? '' : `${url.protocol}//${url.host}`;
}

/** Whether messages would go to a provider whose balances are watched. */
export function isAtProvider(address: Secret, { providerHosts }: ChannelSurroundings): boolean {
  const host = URL.parse(address.reveal())?.hostname ?? '';
  return providerHosts.includes(host) && !isLoopbackHost(host);
}

/** The part of a kind that finds its keys for `init`, for receivers that are known by their host and take one address. */
export function keysAtHost(host: RegExp): NonNullable<ChannelKind['keysAt']> {
  return (address) =>
    address.protocol === 'https:' && host.test(address.hostname)
      ? { keys: { webhookUrl: address.href }, isCertain: true }
      : null;
}
