import type { ForeignTexts } from '../../domain/foreign-text.ts';
import type { Micros } from '../../domain/money.ts';
import type { OutcomeDetail, ProviderFacts } from '../../domain/reading.ts';
import type { ProviderAnswer } from '../kind.ts';
import type { AmountDescription, CurrencyDescription, Description, Test } from './description.ts';
import { ExactJson } from './json-path.ts';
import { matchGroup, type Quote, type Read, readAmount, sayCount } from './read-amount.ts';

/** Longest piece of an answer that a reason quotes, in characters. */
const maxQuoteLength = 60;
const maxMessageLength = 200;

/** Up to 16 visible characters: what is strange but printable is kept and escaped where it is shown. */
const currencyPattern = /^(?=.*\S)[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]{1,16}$/u;

/**
 * What an answer means by its description. Reasons quote only what stands at a path of the description, cut, and without the
 * secrets that `texts` knows: the rest of an answer may hold personal data.
 */
export function readAnswer(
  description: Description,
  answer: ProviderAnswer,
  texts: ForeignTexts,
): OutcomeDetail {
  const { status } = answer;
  const json = answer.body === null ? null : ExactJson.parse(answer.body);
  const refusal = findRefusal(description, status, json);
  if (refusal !== null) {
    const message = json === null ? '' : quoteMessage(description, json, texts);
    return { kind: refusal.kind, reason: refusal.reason + message, status };
  }
  if (status < 200 || status > 299) return { kind: 'http_error', reason: describeStatus(status), status };
  if (json === null) return { kind: 'invalid_response', reason: describeBadBody(answer), status };
  return readSuccess(description, json, { status, texts });
}

interface Refusal {
  readonly kind: 'auth_failed' | 'rate_limited' | 'api_error';
  readonly reason: string;
}

/** What the table of errors says, then what everybody means by 401, 403 and 429. */
function findRefusal({ errors }: Description, status: number, json: ExactJson | null): Refusal | null {
  const row = errors.find(
    (each) =>
      (each.status === null || each.status === status) &&
      (each.test === null || (json !== null && holds(each.test, json))),
  );
  if (row !== undefined) {
    const said = row.test === null ? `HTTP ${status}` : `${row.test.path.text} says so (HTTP ${status})`;
    return { kind: row.means, reason: `${openings[row.means]}: ${said}` };
  }
  if (status === 401 || status === 403)
    return { kind: 'auth_failed', reason: `${openings.auth_failed}: HTTP ${status}` };
  return status === 429 ? { kind: 'rate_limited', reason: `${openings.rate_limited}: HTTP 429` } : null;
}

const openings = {
  auth_failed: 'the provider refuses the credentials',
  rate_limited: 'rate limited',
  api_error: 'the provider reports an error',
} as const;

function readSuccess(
  description: Description,
  json: ExactJson,
  { status, texts }: { readonly status: number; readonly texts: ForeignTexts },
): OutcomeDetail {
  const quote: Quote = (value) => quoteValue(value, texts);
  const invalid = (reason: string): OutcomeDetail => ({ kind: 'invalid_response', reason, status });
  const { success, postpaid } = description;
  const unsuccessful = success === undefined ? null : describeFailure(success, json, quote);
  if (unsuccessful !== null) {
    const { isKnown, reason } = unsuccessful;
    return isKnown
      ? { kind: 'api_error', reason: reason + quoteMessage(description, json, texts), status }
      : invalid(reason);
  }
  const sentinel = postpaid.find((test) => holds(test, json));
  if (sentinel !== undefined) {
    const reason = `the account is not prepaid: ${sentinel.path.text} says that it has no balance`;
    return { kind: 'api_error', reason, status };
  }
  const balances: Record<string, Micros> = {};
  for (const balance of description.balances) {
    const read = readAmount(json, balance, quote);
    if ('wrong' in read) return invalid(read.wrong);
    balances[balance.id] = read.value;
  }
  const currency = readCurrency(description.currency, json, quote);
  if ('wrong' in currency) return invalid(currency.wrong);
  // A provider that echoes a secret here would carry it into messages and the database.
  if (texts.holdsSecret(currency.value)) return invalid('the currency of the answer is no currency');
  return {
    kind: 'ok',
    answer: { currency: currency.value, balances },
    ...readFacts(description, json, quote),
  };
}

/** Null where the answer says success. `isKnown`: something else stands where it would. */
function describeFailure(
  { path, values }: Test,
  json: ExactJson,
  quote: Quote,
): { readonly isKnown: boolean; readonly reason: string } | null {
  const [first, second] = json.find(path);
  if (first === undefined || second !== undefined)
    return {
      isKnown: false,
      reason: `${path.text}, which says whether the answer is good, is not in it once`,
    };
  return isAmong(first.value, values)
    ? null
    : {
        isKnown: true,
        reason: `the provider does not report success: ${path.text} is ${quote(first.value)}`,
      };
}

export function holds({ path, values }: Test, json: ExactJson): boolean {
  return json.find(path).some(({ value }) => isAmong(value, values));
}

function isAmong(value: unknown, values: Test['values']): boolean {
  return values === null ? value !== null : values.some((each) => each === value);
}

export function readCurrency(how: CurrencyDescription, json: ExactJson, quote: Quote): Read<string> {
  if ('unit' in how) return { value: how.unit };
  if ('fixed' in how) return { value: how.fixed };
  const found = json.find(how.path);
  const text = found[0]?.value;
  if (found.length !== 1) return { wrong: sayCount(how.path, found.length) };
  if (typeof text !== 'string') return { wrong: `${how.path.text} is ${quote(text)}; expected a text` };
  const part = how.pattern === undefined ? text : matchGroup(text, how.pattern);
  const word = part?.trim() ?? '';
  const currency = how.map !== undefined && Object.hasOwn(how.map, word) ? how.map[word] : word;
  if (currency === undefined || !currencyPattern.test(currency))
    return { wrong: `${how.path.text} is ${quote(text)}; expected a currency` };
  return { value: /^[a-z]{3}$/.test(currency) ? currency.toUpperCase() : currency };
}

/** What else the answer says. A fact that is missing or unreadable fails no reading. */
function readFacts(
  { facts }: Description,
  json: ExactJson,
  quote: Quote,
): { readonly facts?: ProviderFacts } {
  const read: { -readonly [Key in keyof ProviderFacts]: ProviderFacts[Key] } = {};
  if (facts.autoRecharge !== undefined && json.find(facts.autoRecharge.path).length === 1)
    read.autoRecharge = holds(facts.autoRecharge, json);
  const creditLimit = readOptional(facts.creditLimit, json, quote);
  if (creditLimit !== null) read.creditLimitMicros = Math.abs(creditLimit);
  const pending = readOptional(facts.pending, json, quote);
  if (pending !== null) read.pendingMicros = Math.abs(pending);
  return Object.keys(read).length === 0 ? {} : { facts: read };
}

function readOptional(how: AmountDescription | undefined, json: ExactJson, quote: Quote): Micros | null {
  const read = how === undefined ? null : readAmount(json, how, quote);
  return read === null || 'wrong' in read ? null : read.value;
}

function quoteMessage({ message }: Description, json: ExactJson, texts: ForeignTexts): string {
  const [found] = message === undefined ? [] : json.find(message);
  const words = typeof found?.value === 'string' ? texts.clean(found.value, maxMessageLength) : '';
  return words === '' ? '' : `, "${words}"`;
}

export function quoteValue(value: unknown, texts: ForeignTexts): string {
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = texts.clean(String(value), maxQuoteLength);
  return typeof value === 'string' ? `"${text}"` : text;
}

function describeStatus(status: number): string {
  if (status >= 300 && status < 400) return `HTTP ${status}, a redirect; it is never followed`;
  return `HTTP ${status}`;
}

function describeBadBody(answer: ProviderAnswer): string {
  if (answer.body !== null) {
    if (answer.body.trim() === '') return 'the answer is empty';
    return /^\s*</.test(answer.body) ? 'the answer is HTML or XML, not JSON' : 'the answer is not JSON';
  }
  return answer.problem === 'too-large'
    ? 'the answer is too large'
    : 'the answer is compressed, which was not asked for';
}
