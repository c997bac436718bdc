/** `localhost` and names below it (RFC 6761), 127.0.0.0/8, ::1. Every other name could be resolved to anywhere. */
export function isLoopbackHost(host: string): boolean {
  const name = host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
  if (name === 'localhost' || name.endsWith('.localhost')) return true;
  if (name === '::1' || name === '0:0:0:0:0:0:0:1') return true;
  const octets = /^127\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(name);
  return octets?.slice(1).every((octet) => Number(octet) <= 255) ?? false;
}

/** Whether data sent to this address could be read on its way: http:// to another machine. */
export function isUnencrypted(address: string): boolean {
  const url = URL.parse(address);
  return url?.protocol === 'http:' && !isLoopbackHost(url.hostname);
}

/** The fault of an address with port 0, on which nothing listens. */
export const noPort = { wrong: 'names port 0, at which nothing can be reached' } as const;

/** The hosts of a PostgreSQL database: one address for each host, in the order in which they are tried. */
export interface PostgresHosts {
  readonly urls: readonly string[];
  readonly mustWrite: boolean;
}

const form = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^@/?#]+)(\/[^/?#]+)((?:\?[^#]*)?)$/;

/** Values of `target_session_attrs` in libpq, and whether each asks for a server that takes writes. */
const targets: ReadonlyMap<string, boolean> = new Map([
  ['any', false],
  ['read-write', true],
  ['primary', true],
]);

/** Parses as libpq does: `postgres://user:password@one:5432,two:5432/database?target_session_attrs=read-write`. Null: no such address. */
export function parsePostgresAddress(text: string): PostgresHosts | { readonly wrong: string } | null {
  const [, start = '', hosts = '', path = '', query = ''] = form.exec(text) ?? [];
  if (start === '') return null;
  const parameters = query.slice(1).split('&').filter(Boolean);
  const isTarget = (parameter: string): boolean => parameter.startsWith('target_session_attrs=');
  const target = parameters.findLast(isTarget)?.split('=')[1] ?? 'any';
  const mustWrite = targets.get(target);
  if (mustWrite === undefined)
    return {
      wrong: `has target_session_attrs=${target}: lowwater writes, so that only ${[...targets.keys()].join(', ')} are allowed`,
    };
  const kept = parameters.filter((parameter) => !isTarget(parameter));
  const rest = `${path}${kept.length === 0 ? '' : `?${kept.join('&')}`}`;
  const urls = hosts.split(',').map((host) => `${start}${host}${rest}`);
  if (urls.some((url) => URL.parse(url)?.port === '0')) return noPort;
  return urls.every(isSound) ? { urls, mustWrite } : null;
}

/** An address as a URL; if it names several hosts of PostgreSQL, that of the first. Null: no address. */
export function parseAddress(text: string): URL | null {
  const hosts = parsePostgresAddress(text);
  return URL.parse(hosts !== null && 'urls' in hosts ? (hosts.urls[0] ?? text) : text);
}

/** The passwords of an address, as they are written and as they are decoded. */
export function passwordsIn({ password, searchParams }: URL): readonly string[] {
  const given = [...searchParams].flatMap(([name, value]) => (name.endsWith('password') ? [value] : []));
  return [password, ...given].flatMap((text) => [text, decodePercent(text) ?? text]);
}

/** User and password of an address as HTTP Basic sends them; null when it has none. */
export function basicOf({ username, password }: URL): string | null {
  const pair = [username, password].map((text) => decodePercent(text) ?? text).join(':');
  return pair === ':' ? null : Buffer.from(pair).toString('base64');
}

/** Whether the text is a URL with a host, and with a user and password that can be decoded. */
export function isSound(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.hostname !== '' && decodePercent(`${url.username}:${url.password}`) !== null;
}

/** Null if a percent sign begins no octet, or the octets are no UTF-8. The bundler drops a call whose result nobody uses. */
export function decodePercent(encoded: string): string | null {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return null;
  }
}
