import type { ForeignTexts } from '../../domain/foreign-text.ts';
import { formatMicros, type Micros } from '../../domain/money.ts';
import { ownOf } from '../../domain/own.ts';
import type { OutcomeDetail, ProviderFacts } from '../../domain/reading.ts';
import type { ProviderAnswer, ReadPart } from '../kind.ts';
import type { AmountDescription, CurrencyDescription, Description, Test } from './description.ts';
import { type ExactJson, type Path, parseExactly } from './json-path.ts';
import { matchGroup, type Quote, type Read, readAmount, sayCount } from './read-amount.ts';

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
  const json = answer.body === null ? null : parseExactly(answer.body);
  const refusal = findRefusal(description, status, json);
  if (refusal !== null) {
    const message = json === null ? '' : quoteMessage(description, json, texts);
    return { kind: refusal.kind, reason: refusal.reason + message, status };
  }
  if (status < 200 || status > 299) {
    const isRedirect = status >= 300 && status < 400;
    const reason = `HTTP ${status}${isRedirect ? ', a redirect; it is never followed' : ''}`;
    return { kind: 'http_error', reason, status };
  }
  if (json === null) return { kind: 'invalid_response', reason: describeBadBody(answer), status };
  return readSuccess(description, json, { status, texts });
}

const openings = {
  auth_failed: 'the provider refuses the credentials',
  rate_limited: 'rate limited',
  api_error: 'the provider reports an error',
} as const;

function findRefusal({ errors }: Description, status: number, json: ExactJson | null) {
  const row = errors.find(
    (each) =>
      (each.status === null || each.status === status) &&
      (each.test === null || (json !== null && holds(each.test, json))),
  );
  const usual = ({ 401: 'auth_failed', 403: 'auth_failed', 429: 'rate_limited' } as const)[status];
  const kind = row?.means ?? usual;
  if (kind === undefined) return null;
  const said = row?.test == null ? `HTTP ${status}` : `${row.test.path.text} says so (HTTP ${status})`;
  return { kind, reason: `${openings[kind]}: ${said}` };
}

function readSuccess(
  description: Description,
  json: ExactJson,
  { status, texts }: { readonly status: number; readonly texts: ForeignTexts },
): OutcomeDetail {
  const quote: Quote = (value) => quoteValue(value, texts);
  const invalid = (reason: string): OutcomeDetail => ({ kind: 'invalid_response', reason, status });
  const { success, postpaid } = description;
  if (success !== undefined) {
    const { path, values } = success;
    const [found, another] = json.find(path);
    if (found === undefined || another !== undefined)
      return invalid(`${path.text}, which says whether the answer is good, is not in it once`);
    if (!isAmong(found.value, values)) {
      const reason = `the provider does not report success: ${path.text} is ${quote(found.value)}`;
      return { kind: 'api_error', reason: reason + quoteMessage(description, json, texts), status };
    }
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

function holds({ path, values }: Test, json: ExactJson): boolean {
  return json.find(path).some(({ value }) => isAmong(value, values));
}

function isAmong(value: unknown, values: Test['values']): boolean {
  return values === null ? value !== null : values.some((each) => each === value);
}

function readCurrency(how: CurrencyDescription, json: ExactJson, quote: Quote): Read<string> {
  if ('unit' in how) return { value: how.unit };
  if ('fixed' in how) return { value: how.fixed };
  const found = json.find(how.path);
  const text = found[0]?.value;
  if (found.length !== 1) return { wrong: sayCount(how.path, found.length) };
  if (typeof text !== 'string') return { wrong: `${how.path.text} is ${quote(text)}; expected a text` };
  const part = how.pattern === undefined ? text : matchGroup(text, how.pattern);
  const word = part?.trim() ?? '';
  const currency = ownOf(how.map, word) ?? word;
  if (currency === undefined || !currencyPattern.test(currency))
    return { wrong: `${how.path.text} is ${quote(text)}; expected a currency` };
  return { value: /^[a-z]{3}$/.test(currency) ? currency.toUpperCase() : currency };
}

/** What else the answer says. A fact that is missing or unreadable fails no reading. */
function readFacts(
  { facts: { autoRecharge, creditLimit, pending } }: Description,
  json: ExactJson,
  quote: Quote,
): { readonly facts?: ProviderFacts } {
  const sizeOf = (how: AmountDescription | undefined): number | null => {
    const read = how === undefined ? null : readAmount(json, how, quote);
    return read === null || 'wrong' in read ? null : Math.abs(read.value);
  };
  const [limit, spent] = [sizeOf(creditLimit), sizeOf(pending)];
  const isRechargeKnown = autoRecharge !== undefined && json.find(autoRecharge.path).length === 1;
  const facts = {
    ...(isRechargeKnown ? { autoRecharge: holds(autoRecharge, json) } : {}),
    ...(limit === null ? {} : { creditLimitMicros: limit }),
    ...(spent === null ? {} : { pendingMicros: spent }),
  };
  return Object.keys(facts).length === 0 ? {} : { facts };
}

function quoteMessage({ message }: Description, json: ExactJson, texts: ForeignTexts): string {
  const [found] = message === undefined ? [] : json.find(message);
  const words = typeof found?.value === 'string' ? texts.clean(found.value, maxMessageLength) : '';
  return words === '' ? '' : `, "${words}"`;
}

function quoteValue(value: unknown, texts: ForeignTexts): string {
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = texts.clean(String(value), maxQuoteLength);
  return typeof value === 'string' ? `"${text}"` : text;
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

/** Every path of a description with what stands there, in the order in which an answer is read. Empty where it is no JSON. */
export function explainAnswer(
  description: Description,
  { body }: ProviderAnswer,
  texts: ForeignTexts,
): readonly ReadPart[] {
  const json = body === null ? null : parseExactly(body);
  if (json === null) return [];
  const quote = (value: unknown): string => quoteValue(value, texts);
  const part = (what: string, path: Path, read: string): ReadPart => {
    const found = json.find(path).map(({ value, digits }) => digits ?? quote(value));
    return { what, where: path.text, found: found.length === 0 ? 'nothing' : found.join(', '), read };
  };
  const test = (what: string, of: Test): ReadPart => part(what, of.path, holds(of, json) ? 'yes' : 'no');
  const amount = (what: string, how: AmountDescription): readonly ReadPart[] => {
    const read = readAmount(json, how, quote);
    const terms = [how.plus, how.minus].filter((path) => path !== undefined);
    return [
      part(what, how.amount, 'wrong' in read ? read.wrong : formatMicros(read.value)),
      ...terms.map((path) => part(path === how.minus ? '  less' : '  and', path, '')),
    ];
  };
  const { errors, success, postpaid, balances, currency, facts } = description;
  const read = readCurrency(currency, json, quote);
  return [
    ...errors.flatMap((row) => (row.test === null ? [] : [test(`error ${row.means}`, row.test)])),
    ...(success === undefined ? [] : [test('success', success)]),
    ...postpaid.map((each) => test('not prepaid', each)),
    ...balances.flatMap((balance) => amount(`balance ${balance.id}`, balance)),
    ...('path' in currency
      ? [part('currency', currency.path, 'wrong' in read ? read.wrong : read.value)]
      : []),
    ...(facts.autoRecharge === undefined ? [] : [test('automatic recharge', facts.autoRecharge)]),
    ...(facts.creditLimit === undefined ? [] : amount('credit limit', facts.creditLimit)),
    ...(facts.pending === undefined ? [] : amount('pending', facts.pending)),
  ];
}
