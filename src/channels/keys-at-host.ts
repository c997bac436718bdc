import type { ChannelKind } from './kind.ts';

/** A kind whose receivers are known by their host and take one address, for `init`. */
export function keysAtHost(host: RegExp): NonNullable<ChannelKind['keysAt']> {
  return (address) =>
    address.protocol === 'https:' && host.test(address.hostname)
      ? { keys: { webhookUrl: address.href }, isCertain: true }
      : null;
}
