import { basicOf, decodePercent, parseAddress, passwordsIn } from '../domain/addresses.ts';
import { Secret } from '../domain/secret.ts';

/** Each secret, with the parts that others may quote of it: the path of an address with credentials, its key-like parts, its password. */
export function listSecretTexts(settings: object): string[] {
  if (settings instanceof Secret) return quotableTexts(settings).filter((text) => text !== '');
  // What a provider's kind compiled is no part of the file, and may contain itself.
  if (!Array.isArray(settings) && Object.getPrototypeOf(settings) !== Object.prototype) return [];
  return Object.values(settings).flatMap((held) =>
    typeof held === 'object' && held !== null ? listSecretTexts(held) : [],
  );
}

/** The passwords of proxies named in variables: a proxy that refuses a request may repeat them. */
export function listProxySecrets(env: Readonly<Record<string, string | undefined>>): string[] {
  const proxies = Object.entries(env).filter(([name]) => /^https?_proxy$/i.test(name));
  const passwords = proxies.map(([, address = '']) => /^(?:\w+:\/\/)?[^:@/]*:(.+)@/.exec(address)?.[1] ?? '');
  return passwords.flatMap((password) => [password, decode(password)]).filter((text) => text !== '');
}

function quotableTexts(secret: Secret): string[] {
  const text = secret.reveal();
  // A text with a blank in it is not an address, though a parser would take what follows for part of its user.
  const url = /^[a-z]+:\/\/\S*$/i.test(text) ? parseAddress(text) : null;
  if (url === null) return [text, ...credentialsIn(text)];
  const path = url.pathname + url.search;
  // A short path such as "/ping" is no credential, and hiding it would black out ordinary text.
  const quotable = path.length > 8 ? [path] : [];
  const keys = [
    ...url.pathname.split('/').filter(isKeyLike),
    ...[...url.searchParams].flatMap(([name, value]) => (isLong(value) && !isFile(url, name) ? [value] : [])),
  ];
  return [text, ...quotable, ...keys, ...keys.map(decode), ...passwordsIn(url), basicOf(url) ?? ''];
}

/** The credentials of an `Authorization` header, which servers quote without the scheme; of `Basic` the password too. */
function credentialsIn(text: string): readonly string[] {
  const [, scheme = '', credentials = ''] = /^([\w-]+) ((?!\S*:\/\/)\S{8,})$/.exec(text) ?? [];
  const pair = scheme.toLowerCase() === 'basic' ? Buffer.from(credentials, 'base64').toString() : '';
  return [credentials, pair.slice(pair.indexOf(':') + 1)];
}

/** Whether the parameter is a path that an error names. */
const isFile = ({ protocol }: URL, parameter: string): boolean =>
  protocol.startsWith('postgres') && /^ssl(rootcert|cert|key)$/.test(parameter);

/** Whether the part looks generated, unlike the fixed parts of a service's address such as `incoming-webhook`. */
function isKeyLike(part: string): boolean {
  return part.length >= 24 || (isLong(part) && /\d/.test(part) && /[a-z]/i.test(part));
}

const isLong = ({ length }: string): boolean => length >= 12;

const decode = (encoded: string): string => decodePercent(encoded) ?? encoded;
