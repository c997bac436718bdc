/**
 * Money as an integer number of millionths. JavaScript numbers hold every such integer exactly up to the
 * limit of ±9,007,199,254 units, beyond which an answer counts as invalid.
 */
export type Micros = number;

/** The name of a currency: visible characters. A strange but printable one is kept and escaped where it is shown. */
export const currencyPattern = /^(?=.*\S)[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]{1,16}$/u;

const microsPerUnit = 1_000_000;
const limit = 9_007_199_254n * 1_000_000n;
/** Numbers so short that their binary product errs by less than a quarter of a millionth: rounding makes it exact. */
const shortPattern = /^-?\d{1,9}(?:\.\d{1,6})?$/;
const decimalPattern = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * Reads the digits of a JSON number exactly. Digits past the sixth decimal are rounded
 * half to even; that heals the float noise of a server. Null when the text is no such number or its value is
 * out of range.
 */
export function parseMicros(digits: string): Micros | null {
  if (shortPattern.test(digits)) return Math.round(Number(digits) * microsPerUnit) + 0;
  const match = decimalPattern.exec(digits);
  if (match === null) return null;
  const [, sign = '', whole = '', fraction = '', exponentText = '0'] = match;
  const significant = (whole + fraction).replace(/^0+/, '');
  if (significant === '') return 0;
  const exponent = Number(exponentText) - fraction.length + 6;
  // Beyond these the value is out of range or rounds to zero; an exponent of a million digits is never
  // expanded.
  if (significant.length + exponent > 17) return null;
  if (significant.length + exponent < 0) return 0;
  const magnitude =
    exponent >= 0 ? BigInt(significant + '0'.repeat(exponent)) : roundHalfEven(significant, -exponent);
  if (magnitude > limit) return null;
  const micros = Number(magnitude);
  return sign === '-' && micros !== 0 ? -micros : micros;
}

/** Whether a JSON number has digits below a millionth, so that `parseMicros` rounds it. */
export function isFinerThanMicros(digits: string): boolean {
  const [, , whole = '', fraction = '', exponent = '0'] = decimalPattern.exec(digits) ?? [];
  const written = whole + fraction;
  const zeros = written.length - written.replace(/(?<!0)0+$/, '').length;
  return zeros < written.length && fraction.length - zeros - Number(exponent) > 6;
}

function roundHalfEven(digits: string, count: number): bigint {
  const kept = BigInt(digits.slice(0, -count) || '0');
  const dropped = digits.slice(-count).padStart(count, '0');
  const half = `5${'0'.repeat(count - 1)}`;
  if (dropped > half || (dropped === half && kept % 2n === 1n)) return kept + 1n;
  return kept;
}

/** The form in which APIs give money, without trailing zeros: `"-18.383"`, `"0"`. */
export function formatMicros(micros: Micros): string {
  return decimal(micros, 0);
}

/** The form in which people write money in a file: every digit that counts, at least two decimals: `"-18.383"`, `"1234.50"`. */
export function formatExact(micros: Micros): string {
  return decimal(micros, 2);
}

/** Money for people: thousands separated, two decimals, below 1 as many as there are: `"1,234.57"`, `"0.0375"`. */
export function formatMoney(micros: Micros): string {
  return separated(Math.abs(micros) < microsPerUnit ? micros : Math.round(micros / 10_000) * 10_000, 2);
}

/** Amounts of a unit that is no money are whole for people, except below 1. */
function formatCount(micros: Micros): string {
  return separated(
    Math.abs(micros) < microsPerUnit ? micros : Math.round(micros / microsPerUnit) * microsPerUnit,
    0,
  );
}

function separated(micros: Micros, minimumDecimals: number): string {
  return decimal(micros, minimumDecimals).replace(/\B(?=(\d{3})+(?!\d))(?<!\.\d*)/g, ',');
}

/** `"20.00 CNY"`; without a currency if none is known. */
export function formatAmount(micros: Micros, currency: string | null): string {
  const amount = formatBare(micros, currency);
  return currency === null || currency === '' ? amount : `${amount} ${currency}`;
}

/** `formatAmount` without the currency: `"20.00"`, `"20"` of credits. */
export function formatBare(micros: Micros, currency: string | null): string {
  return isUnit(currency ?? '') ? formatCount(micros) : formatMoney(micros);
}

/**
 * `formatBare`, made different from `other` if rounding would make both read alike: `"199.999999"` next to 200. Units, which are whole for
 * people, are rounded away from it: `"199"` for 199.6 credits next to 200.
 */
export function formatBareDistinctFrom(micros: Micros, other: Micros, currency: string | null): string {
  const text = formatBare(micros, currency);
  if (micros === other || text !== formatBare(other, currency)) return text;
  if (!isUnit(currency ?? '')) return separated(micros, 2);
  const round = micros < other ? Math.floor : Math.ceil;
  return formatCount(round(micros / microsPerUnit) * microsPerUnit);
}

function decimal(micros: Micros, minimumDecimals: number): string {
  const magnitude = Math.abs(micros);
  const whole = Math.floor(magnitude / microsPerUnit);
  const fraction = String(magnitude - whole * microsPerUnit)
    .padStart(6, '0')
    .replace(/0+$/, '')
    .padEnd(minimumDecimals, '0');
  const sign = micros < 0 ? '-' : '';
  return fraction === '' ? `${sign}${whole}` : `${sign}${whole}.${fraction}`;
}

/** Whether two names mean the same currency: compared trimmed and without case; `RMB` is CNY. */
export function isSameCurrency(one: string, other: string): boolean {
  return one === other || currencyCode(one) === currencyCode(other);
}

/** Whether a text may be a code of ISO 4217. */
export function isCurrencyCode(text: string): boolean {
  return /^[A-Z]{3}$/.test(text);
}

export function currencyCode(name: string): string {
  const code = name.trim().toUpperCase();
  return code === 'RMB' ? 'CNY' : code;
}

/** Credits, messages and the like: a word of four lower-case letters or more. Whole numbers for people. */
export function isUnit(currency: string): boolean {
  return unitPattern.test(currency);
}

/** The form of a unit in the configuration and in readings. */
const unitPattern = /^[a-z][a-z-]{3,15}$/;
