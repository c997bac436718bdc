import { parseJsonObject } from '../../domain/json.ts';
import type { Micros } from '../../domain/money.ts';
import { ownOf } from '../../domain/own.ts';
import { Secret } from '../../domain/secret.ts';
import { minuteMs } from '../../domain/time.ts';
import { parseAnswer } from '../http-json/answer-document.ts';
import { type Decimal, multiplyDecimals } from '../http-json/decimal.ts';
import type { Description } from '../http-json/description.ts';
import { type Path, parseExactly } from '../http-json/json-path.ts';
import { prepareRequest } from '../http-json/prepare-request.ts';
import { readTime } from '../http-json/sign.ts';
import type { ProviderSimulation, SimulatedBalances, SimulatedRequest } from '../kind.ts';
import type { DocumentedAnswer, Preset } from './preset.ts';

/** Plays a preset's API as its source documents it: its sample, with the account's balances. Signatures are computed and compared. */
export function simulatePreset(preset: Preset, description: Description): ProviderSimulation {
  const say = ({ status, body }: Pick<DocumentedAnswer, 'status' | 'body'>) => ({
    status,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const sayFirst = (means: string, otherwise: Pick<DocumentedAnswer, 'status' | 'body'>) =>
    say(preset.answers?.find((each) => each.means === means) ?? otherwise);
  const unauthorized = { status: 401, body: { error: 'unauthorized' } };
  const askedToken = description.token && { request: description.token.request };
  const seen = new Set<string>();
  return {
    identify(request, accounts) {
      const { nonce } = readAttempt(request, description);
      if (nonce !== '' && seen.has(nonce)) return null;
      seen.add(nonce);
      return (
        accounts.find(
          (account) =>
            (askedToken && isRequestOf(account, request, askedToken)) ||
            (isRequestOf(account, request, description) && !isOffTime(request, description)),
        ) ?? null
      );
    },
    succeed(account, request) {
      if (askedToken && isRequestOf(account, request, askedToken))
        return say({ status: 200, body: fillToken(preset, description, account) });
      return { status: 200, body: fillSample(preset.sample, description, account) };
    },
    refuseKey: (request) =>
      isOffTime(request, description)
        ? sayFirst('clock_off', unauthorized)
        : sayFirst('auth_failed', unauthorized),
    limitRate: () => sayFirst('rate_limited', { status: 429, body: { error: 'too many requests' } }),
  };
}

/** How far off the time of a signed request may be, as with most vendors. */
const longestSkewMs = 15 * minuteMs;

function isOffTime(request: SimulatedRequest, description: Description): boolean {
  const { now } = readAttempt(request, description);
  return Math.abs(now - request.receivedAt) > longestSkewMs;
}

type Asked = Pick<Description, 'request' | 'sign'>;

function isRequestOf(account: SimulatedBalances, request: SimulatedRequest, how: Asked): boolean {
  const secrets = Object.entries(account.credentials).map(([name, value]) => [name, new Secret(value)]);
  const attempt = { ...readAttempt(request, how), token: new Secret(tokenOf(account)) };
  const host = `http://${request.headers.host}`;
  const wanted = prepareRequest(how, Object.fromEntries(secrets), attempt, host);
  if ('reason' in wanted) return false;
  const { pathname, search } = new URL(wanted.url.reveal());
  const { method, url, body } = request;
  return (
    method === wanted.method &&
    url === pathname + search &&
    body === (wanted.body?.reveal() ?? '') &&
    Object.entries(wanted.headers).every(
      ([name, value]) =>
        ownOf(request.headers, name) === (typeof value === 'string' ? value : value.reveal()),
    )
  );
}

/** The time and the nonces with which a request was signed, found where the description puts them. */
function readAttempt(request: SimulatedRequest, { request: how, sign = {} }: Asked) {
  let now = request.receivedAt;
  const nonces: string[] = [];
  for (const [name, step] of Object.entries(sign)) {
    const text = 'time' in step || 'nonce' in step ? findSent(`sign.${name}`, request, how) : null;
    if (text === null) continue;
    if ('nonce' in step) nonces.push(text);
    else if ('time' in step) now = readTime(text, step, now) ?? now;
  }
  const nonce = nonces.join(' ');
  return { now, nonce, random: () => Buffer.from(nonces.shift() ?? '', 'hex'), token: null };
}

/** The value that a request has for a placeholder of its description; null if it is in no header, parameter or field. */
function findSent(placeholder: string, { url, headers, body }: SimulatedRequest, how: Asked['request']) {
  const query = new URL(url, 'http://simulated').searchParams;
  const json = parseJsonObject(body) ?? Object.fromEntries(new URLSearchParams(body));
  const places: readonly (readonly [templates: unknown, sent: (name: string) => unknown])[] = [
    [how.headers, (name) => headers[name.toLowerCase()]],
    [how.query, (name) => query.get(name)],
    [how.form, (name) => ownOf(json, name)],
    [how.json, (name) => ownOf(json, name)],
  ];
  for (const [templates, sent] of places)
    for (const [name, template] of Object.entries(Object(templates))) {
      if (typeof template !== 'string' || !template.includes(`{{${placeholder}}}`)) continue;
      const found = capture(template, placeholder).exec(String(sent(name)))?.[1];
      if (found !== undefined) return found;
    }
  return null;
}

function capture(template: string, placeholder: string): RegExp {
  const parts = template.split(/(\{\{[^{}]*\}\})/).map((part) => {
    if (part === `{{${placeholder}}}`) return '(.+?)';
    return part.startsWith('{{') ? '.*?' : part.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  });
  return new RegExp(`^${parts.join('')}$`);
}

function tokenOf({ credentials }: SimulatedBalances): string {
  return `token-of-${Buffer.from(JSON.stringify(credentials)).toString('hex')}`;
}

function fillToken({ tokenSample }: Preset, { token }: Description, account: SimulatedBalances): unknown {
  const original = parseExactly(JSON.stringify(tokenSample));
  const [place] = token === undefined ? [] : (original?.find(token.path) ?? []);
  const filled = structuredClone({ '': tokenSample });
  put(filled, place?.location ?? [], tokenOf(account));
  return filled[''];
}

/** The sample with the account's amounts and currency. Each balance is in its first amount; amounts that are added to it are 0. */
function fillSample(sample: unknown, description: Description, account: SimulatedBalances): string {
  const isText = description.format === 'text';
  const answer = typeof sample === 'string' && isText ? sample : JSON.stringify(sample);
  const original = parseAnswer(description, { status: 200, headers: {}, body: answer });
  /** The new text of each value, as JSON, by its location. */
  const written = new Map<string, string>();
  const write = (path: Path | undefined, texts: readonly string[], pattern?: RegExp): void => {
    const places = path === undefined ? [] : (original?.find(path) ?? []);
    places.forEach(({ location, value }, index) => {
      const text = texts[index] ?? '0';
      const place = JSON.stringify(location);
      const before: unknown = JSON.parse(written.get(place) ?? JSON.stringify(value));
      written.set(place, typeof before === 'string' ? JSON.stringify(putPart(before, pattern, text)) : text);
    });
  };
  for (const { id, amount, plus, minus, scale, pattern } of description.balances) {
    write(amount, [writeAmount(ownOf(account.balances, id) ?? 0, scale)], pattern);
    write(plus, []);
    write(minus, []);
  }
  const { currency } = description;
  if ('path' in currency) {
    const { path, pattern, map = {} } = currency;
    const word = Object.entries(map).find(([, meaning]) => meaning === account.currency)?.[0];
    // A provider that writes numbers for currencies has none for this one, so the sample's currency stays.
    if (word !== undefined || original?.find(path)[0]?.digits === null)
      write(path, [word ?? account.currency], pattern);
  }
  const filled = structuredClone({ '': original?.root });
  for (const [place, text] of written)
    put(filled, JSON.parse(place), isText ? JSON.parse(text) : `hole:${text}`);
  if (isText) return writeText(filled[''], description, written.has('["text"]'));
  // JSON has no other way to write digits that a binary float does not hold.
  return JSON.stringify(filled['']).replace(/"hole:(?:[^"\\]|\\.)*"/g, (hole) =>
    String(JSON.parse(hole)).slice('hole:'.length),
  );
}

function put(holder: object, location: readonly (string | number)[], value: unknown): void {
  const keys = ['', ...location];
  const last = keys.pop() ?? '';
  const inner = keys.reduce((each: unknown, key) => Reflect.get(Object(each), key), holder);
  Reflect.set(Object(inner), last, value);
}

function writeText(document: unknown, { separator }: Description, isWhole: boolean): string {
  const { text, lines } = Object(document) as { readonly text: string; readonly lines: readonly string[][] };
  return isWhole ? text : lines.map((fields) => fields.join(separator)).join('\n');
}

function putPart(text: string, pattern: RegExp | undefined, part: string): string {
  const group = pattern?.exec(text)?.[1];
  return group === undefined ? part : text.replace(group, () => part);
}

/** The digits that a scale, a power of ten with either sign, turns into `micros`. */
function writeAmount(micros: Micros, scale: Decimal = { units: 1n, places: 0 }): string {
  const inverse = { units: scale.units * 10n ** BigInt(scale.places), places: 0 };
  const { units, places } = multiplyDecimals({ units: BigInt(micros), places: 6 }, inverse);
  const digits = String(units < 0n ? -units : units).padStart(places + 1, '0');
  const text = `${digits.slice(0, -places)}.${digits.slice(-places)}`.replace(/\.?0+$/, '');
  return `${units < 0n ? '-' : ''}${text}`;
}
