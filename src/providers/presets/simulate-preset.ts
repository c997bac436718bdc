import type { Micros } from '../../domain/money.ts';
import { ownOf } from '../../domain/own.ts';
import { Secret } from '../../domain/secret.ts';
import { type Decimal, multiplyDecimals } from '../http-json/decimal.ts';
import type { Description } from '../http-json/description.ts';
import { type Path, parseExactly } from '../http-json/json-path.ts';
import { prepareRequest } from '../http-json/prepare-request.ts';
import type { ProviderSimulation, SimulatedBalances, SimulatedRequest } from '../kind.ts';
import type { Preset } from './preset.ts';

/** Plays a preset's API: its sample with the balances of the account, as its source documents it. */
export function simulatePreset(preset: Preset, description: Description): ProviderSimulation {
  const { key, rate } = preset.refusals ?? {};
  const refuse = ({ status, body }: { readonly status: number; readonly body: unknown }) => ({
    status,
    body: JSON.stringify(body),
  });
  return {
    identify: (request, accounts) =>
      accounts.find((account) => isRequestOf(account, request, description)) ?? null,
    succeed: (account) => ({ status: 200, body: fillSample(preset.sample, description, account) }),
    refuseKey: () => refuse(key ?? { status: 401, body: { error: 'unauthorized' } }),
    limitRate: () => refuse(rate ?? { status: 429, body: { error: 'too many requests' } }),
  };
}

function isRequestOf(account: SimulatedBalances, request: SimulatedRequest, { request: how }: Description) {
  const secrets = Object.entries(account.credentials).map(([name, value]) => [name, new Secret(value)]);
  const wanted = prepareRequest(how, Object.fromEntries(secrets));
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

/** The sample with amounts and currency in place of its own. Each balance is in its first amount; what is added to that is 0. */
function fillSample(sample: unknown, description: Description, account: SimulatedBalances): string {
  const original = parseExactly(JSON.stringify(sample));
  /** What is written in place of a value, as JSON, by where it stands. */
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
    const word = Object.entries(currency.map ?? {}).find(([, meaning]) => meaning === account.currency)?.[0];
    write(currency.path, [word ?? account.currency], currency.pattern);
  }
  const filled: unknown = structuredClone({ '': sample });
  for (const [place, text] of written) {
    const keys: readonly (string | number)[] = ['', ...JSON.parse(place)];
    const holder = keys.slice(0, -1).reduce((value: unknown, key) => Reflect.get(Object(value), key), filled);
    Reflect.set(Object(holder), keys.at(-1) ?? '', `hole:${text}`);
  }
  // JSON has no other way to write digits that a binary float does not hold.
  return JSON.stringify(Reflect.get(Object(filled), '')).replace(/"hole:(?:[^"\\]|\\.)*"/g, (hole) =>
    String(JSON.parse(hole)).slice('hole:'.length),
  );
}

function putPart(text: string, pattern: RegExp | undefined, part: string): string {
  const group = pattern?.exec(text)?.[1];
  return group === undefined ? part : text.replace(group, () => part);
}

/** The digits that a scale, a power of ten with either sign, makes `micros` of. */
function writeAmount(micros: Micros, scale: Decimal = { units: 1n, places: 0 }): string {
  const inverse = { units: scale.units * 10n ** BigInt(scale.places), places: 0 };
  const { units, places } = multiplyDecimals({ units: BigInt(micros), places: 6 }, inverse);
  const digits = String(units < 0n ? -units : units).padStart(places + 1, '0');
  const text = `${digits.slice(0, -places)}.${digits.slice(-places)}`.replace(/\.?0+$/, '');
  return `${units < 0n ? '-' : ''}${text}`;
}
