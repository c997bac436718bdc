import type { Micros } from '../../domain/money.ts';
import { Secret } from '../../domain/secret.ts';
import {
  addDecimals,
  type Decimal,
  multiplyDecimals,
  negateDecimal,
  parseDecimal,
} from '../http-json/decimal.ts';
import type { AmountDescription, Description } from '../http-json/description.ts';
import { ExactJson, type Found, type Path } from '../http-json/json-path.ts';
import { prepareRequest } from '../http-json/prepare-request.ts';
import type { ProviderSimulation, SimulatedBalances, SimulatedRequest, SimulatedResponse } from '../kind.ts';
import type { Preset } from './preset.ts';

/** Plays a preset's API: its sample with the balances of the account, as its source documents it. */
export function simulatePreset(preset: Preset, description: Description): ProviderSimulation {
  const sample = JSON.stringify(preset.sample);
  const { key, rate } = preset.refusals ?? {};
  return {
    identify: (request, accounts) =>
      accounts.find((account) => isRequestOf(account, request, description)) ?? null,
    succeed: (account) => ({ status: 200, body: fillSample(sample, description, account) }),
    refuseKey: () => ({
      status: key?.status ?? 401,
      body: JSON.stringify(key?.body ?? { error: 'unauthorized' }),
    }),
    limitRate: (): SimulatedResponse => ({
      status: rate?.status ?? 429,
      body: JSON.stringify(rate?.body ?? { error: 'too many requests' }),
    }),
  };
}

/** Whether the request is the one that the description makes of the account's credentials. */
function isRequestOf(
  account: SimulatedBalances,
  request: SimulatedRequest,
  { request: how }: Description,
): boolean {
  const secrets = Object.entries(account.credentials).map(([name, value]) => [name, new Secret(value)]);
  const wanted = prepareRequest(how, Object.fromEntries(secrets));
  if ('reason' in wanted) return false;
  const { pathname, search } = new URL(wanted.url.reveal());
  return (
    request.method === wanted.method &&
    request.url === pathname + search &&
    request.body === (wanted.body?.reveal() ?? '') &&
    Object.entries(wanted.headers).every(
      ([name, value]) => request.headers[name] === (typeof value === 'string' ? value : value.reveal()),
    )
  );
}

/** The sample as text, with amounts and currency in place of its own. Numbers are written by their digits. */
function fillSample(sample: string, description: Description, account: SimulatedBalances): string {
  const original = ExactJson.parse(sample);
  if (original === null) throw new Error('the sample is no JSON');
  const written = new Map<string, string>();
  const write = (path: Path, text: string, pattern?: RegExp): void => {
    const [found] = original.find(path);
    if (found === undefined) return;
    const place = JSON.stringify(found.location);
    const before = written.get(place) ?? JSON.stringify(found.value);
    const isText = typeof found.value === 'string';
    written.set(place, isText ? JSON.stringify(withPart(String(JSON.parse(before)), pattern, text)) : text);
  };
  for (const balance of description.balances) {
    const micros = account.balances[balance.id] ?? 0;
    write(balance.amount, writeDecimal(findAmount(original, balance, micros)), balance.pattern);
  }
  const { currency } = description;
  if ('path' in currency) {
    const words = Object.entries(currency.map ?? {});
    const word = words.find(([, meaning]) => meaning === account.currency)?.[0] ?? account.currency;
    write(currency.path, word, currency.pattern);
  }
  return writeWithHoles(JSON.parse(sample), written);
}

/** What the first amount must be so that all of the balance is `micros`. */
function findAmount(sample: ExactJson, how: AmountDescription, micros: Micros): Decimal {
  const total = multiplyDecimals({ units: BigInt(micros), places: 6 }, inverseOf(how.scale));
  const at = (path: Path | undefined): readonly Decimal[] =>
    path === undefined ? [] : sample.find(path).map(decimalOf);
  return sum([total, ...[...at(how.amount).slice(1), ...at(how.plus)].map(negateDecimal), ...at(how.minus)]);
}

/** A value as JSON, with some texts in it by the places where they stand. */
function writeWithHoles(value: unknown, written: ReadonlyMap<string, string>): string {
  let filled = value;
  for (const place of written.keys()) filled = putAt(filled, JSON.parse(place), `hole:${place}`);
  return JSON.stringify(filled).replace(
    /"hole:(?:[^"\\]|\\.)*"/g,
    (hole) => written.get(String(JSON.parse(hole)).slice('hole:'.length)) ?? hole,
  );
}

function putAt(value: unknown, [key, ...rest]: readonly (string | number)[], put: string): unknown {
  if (key === undefined) return put;
  const holder = Object(value);
  Reflect.set(holder, key, putAt(Reflect.get(holder, key), rest, put));
  return holder;
}

/** The text with what the group of a pattern matches replaced. */
function withPart(text: string, pattern: RegExp | undefined, part: string): string {
  const match = pattern?.exec(text);
  return match?.[1] === undefined ? part : text.replace(match[1], () => part);
}

function decimalOf({ digits, value }: Found): Decimal {
  return parseDecimal(digits ?? String(value)) ?? { units: 0n, places: 0 };
}

function sum(terms: readonly Decimal[]): Decimal {
  return terms.reduce(addDecimals, { units: 0n, places: 0 });
}

/** Of a power of ten, with either sign: presets have no other scale. */
function inverseOf({ units, places }: Decimal = { units: 1n, places: 0 }): Decimal {
  return { units: units < 0n ? -(10n ** BigInt(places)) : 10n ** BigInt(places), places: 0 };
}

function writeDecimal({ units, places }: Decimal): string {
  const digits = String(units < 0n ? -units : units).padStart(places + 1, '0');
  const fraction = digits.slice(digits.length - places).replace(/0+$/, '');
  const whole = digits.slice(0, digits.length - places);
  return `${units < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}
