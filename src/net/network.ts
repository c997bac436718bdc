import { BlockList, isIP } from 'node:net';

/** An IP address, or a network such as `10.0.0.0/8`; null if the text is neither. */
export function parseNetwork(text: string) {
  const [address = '', bits, ...rest] = text.split('/');
  const version = isIP(address);
  const max = version === 4 ? 32 : 128;
  if (version === 0 || rest.length > 0) return null;
  if (bits !== undefined && (!/^\d{1,3}$/.test(bits) || Number(bits) > max)) return null;
  return { address, bits: Number(bits ?? max), family: version === 4 ? 'ipv4' : 'ipv6' } as const;
}

/** An address as people write it. A server that listens on `::` sees IPv4 peers as `::ffff:10.0.0.1`, and some proxies add a port. */
export function plainAddress(text: string): string {
  const [, bracketed, dotted] = /^\[(.*)\](?::\d+)?$|^([\d.]+):\d+$/.exec(text) ?? [];
  return (bracketed ?? dotted ?? text).replace(/^::ffff:(?=\d+\.)/i, '');
}

/** Whether an address is one of these addresses, or in one of these networks. */
export function isAmong(networks: readonly string[], address: string): boolean {
  const list = new BlockList();
  for (const { address: base, bits, family } of networks.flatMap((text) => parseNetwork(text) ?? []))
    list.addSubnet(base, bits, family);
  const plain = plainAddress(address);
  return isIP(plain) !== 0 && list.check(plain, isIP(plain) === 4 ? 'ipv4' : 'ipv6');
}
