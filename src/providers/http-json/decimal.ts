import { type Micros, parseMicros } from '../../domain/money.ts';

/** An exact decimal number: `units` with `places` of its digits after the point. */
export interface Decimal {
  readonly units: bigint;
  readonly places: number;
}

const decimalPattern = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,6}))?$/;

/** Longer texts and larger exponents are no amount of money, and would only cost time. */
const maxLength = 100;
const maxExponent = 100;

/** Reads the digits of a JSON number, which a text may hold too. Null if the text is no number, or larger than every amount of money. */
export function parseDecimal(text: string): Decimal | null {
  const match = text.length > maxLength ? null : decimalPattern.exec(text);
  if (match === null) return null;
  const [, sign = '', whole = '', fraction = '', exponentText = '0'] = match;
  const units = BigInt(`${sign}${whole}${fraction}`);
  const exponent = Number(exponentText);
  if (units === 0n) return { units, places: 0 };
  if (exponent > maxExponent) return null;
  // The number is so far below a millionth that no scale of a configuration brings it back.
  if (exponent < -maxExponent) return { units: 0n, places: 0 };
  const places = fraction.length - exponent;
  return places >= 0 ? { units, places } : { units: units * 10n ** BigInt(-places), places: 0 };
}

export function addDecimals(a: Decimal, b: Decimal): Decimal {
  const places = Math.max(a.places, b.places);
  return { units: unitsAt(a, places) + unitsAt(b, places), places };
}

export function multiplyDecimals(a: Decimal, b: Decimal): Decimal {
  return { units: a.units * b.units, places: a.places + b.places };
}

/** A decimal in millionths, rounded half to even. Null if it is out of range. */
export function toMicros({ units, places }: Decimal): Micros | null {
  return parseMicros(`${units}e-${places}`);
}

function unitsAt({ units, places }: Decimal, wanted: number): bigint {
  return units * 10n ** BigInt(wanted - places);
}
