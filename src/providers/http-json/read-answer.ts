import { parseHttpDate } from '../../domain/backoff.ts';
import type { ForeignTexts } from '../../domain/foreign-text.ts';
import { currencyPattern, type Micros } from '../../domain/money.ts';
import { ownOf } from '../../domain/own.ts';
import type { OutcomeDetail, ProviderFacts } from '../../domain/reading.ts';
import { Secret } from '../../domain/secret.ts';
import { dayMs, describeDuration, isDay, isoText, minuteMs, secondMs } from '../../domain/time.ts';
import { ambiguous } from '../../net/ambiguity.ts';
import { answers } from '../answers.ts';
import type { AnswerContext, BroughtToken, ProviderAnswer } from '../kind.ts';
import { describeBadBody, isMarkup, parseAnswer } from './answer-document.ts';
import type { AmountDescription, CurrencyDescription, Description, Test } from './description.ts';
import { type ExactJson, fixedPath, parseExactly } from './json-path.ts';
import { matchGroup, type Quote, type Read, readAmount, sayCount } from './read-amount.ts';

const maxQuoteLength = 60;
const maxMessageLength = 200;

/** The outcome of an answer. Reasons quote only values at the description's paths, cut and cleaned: the rest may be personal data. */
export function readAnswer(
  description: Description,
  answer: ProviderAnswer,
  context: ReadContext,
): OutcomeDetail {
  const failure = readFailure(description, answer, context);
  if ('kind' in failure) return failure;
  const outcome = readSuccess(description, failure.json, { status: answer.status, texts: context.texts });
  if (outcome.kind !== 'invalid_response') return outcome;
  const said = quoteMessage(description, answer, context.texts);
  // The reason may already quote the whole message.
  const isSaid = outcome.reason.includes(said.replace(/^, /, ''));
  return isSaid ? outcome : { ...outcome, reason: outcome.reason + said };
}

type Failure = Exclude<OutcomeDetail, { readonly kind: 'ok' }>;
type ReadContext = Pick<AnswerContext, 'texts' | 'now'>;

/** The token that an answer brings, with its lifetime. The answer is quoted only where the description expects an error. */
export function readToken(
  description: Description,
  answer: ProviderAnswer,
  context: ReadContext,
): BroughtToken | Failure {
  const { token, errors } = description;
  const form = { ...description, format: 'json' as const, errors: [...errors, refusedClient] };
  const failure = readFailure(form, answer, context);
  if ('kind' in failure) return { ...failure, reason: answers.askedForToken({ reason: failure.reason }) };
  const [found] = token === undefined ? [] : failure.json.find(token.path);
  if (token === undefined || typeof found?.value !== 'string' || !/^[\x21-\x7e]+$/.test(found.value))
    return {
      kind: 'invalid_response',
      reason: `asked for a token: ${token?.path.text} is no token${quoteMessage(form, answer, context.texts)}`,
      status: answer.status,
    };
  const [life] = token.expiresIn === undefined ? [] : failure.json.find(token.expiresIn);
  const seconds = Number(life?.digits ?? (typeof life?.value === 'string' ? life.value : Number.NaN));
  return {
    token: new Secret(found.value),
    lifetimeMs: seconds > 0 ? Math.min(seconds * secondMs, longestLifetimeMs) : token.lifetime,
  };
}

const longestLifetimeMs = 30 * dayMs;

/** RFC 6749, 5.2: 400 is the status for a client that is not accepted. */
const refusedClient: Description['errors'][number] = {
  status: 400,
  test: { path: fixedPath('$.error'), values: ['invalid_client', 'unauthorized_client', 'invalid_grant'] },
  means: 'auth_failed',
};

/** The failure that an answer reports, or the document that the paths look at. */
function readFailure(
  description: Pick<Description, 'errors' | 'message' | 'format' | 'separator' | 'sign'>,
  answer: ProviderAnswer,
  { texts, now }: ReadContext,
): Failure | { readonly json: ExactJson } {
  const { status } = answer;
  const json = parseAnswer(description, answer);
  const refusal = findRefusal(description.errors, status, json);
  if (refusal !== null) {
    const said = refusal.said + quoteMessage(description, answer, texts);
    const isOff =
      refusal.means === 'auth_failed' && isTimed(description) && Math.abs(skewOf(answer, now)) > mostSkewMs;
    if (refusal.means !== 'clock_off' && !isOff)
      return { kind: refusal.means, reason: answers[openings[refusal.means]]({ said }), status };
    const reason = `this machine’s clock is off${wordSkew(skewOf(answer, now))}: the provider refuses the time of the request: ${said}`;
    return { kind: 'api_error', reason, status };
  }
  // A partial answer (206) may end within an amount.
  if (status < 200 || status > 299 || status === 206) {
    const isRedirect = status >= 300 && status < 400;
    const reason = isRedirect
      ? answers.redirect({ status })
      : `HTTP ${status}${quoteMessage(description, answer, texts)}`;
    return { kind: 'http_error', reason, status };
  }
  if (json === null)
    return { kind: 'invalid_response', reason: describeBadBody(description, answer), status };
  return { json };
}

/** No vendor takes a signature this far off. With less, a refused signature means a wrong key. */
const mostSkewMs = 5 * minuteMs;

function isTimed({ sign = {} }: Pick<Description, 'sign'>): boolean {
  return Object.values(sign).some((step) => 'time' in step);
}

/** Milliseconds that this machine's clock is ahead of the provider's, by the answer's own `Date`; 0 if it has none. */
function skewOf({ headers: { date } }: ProviderAnswer, now: number): number {
  const sentAt = date === undefined ? null : parseHttpDate(date);
  return sentAt === null ? 0 : now - sentAt;
}

function wordSkew(skewMs: number): string {
  if (Math.abs(skewMs) < 2 * secondMs) return '';
  return `, ${describeDuration(Math.abs(skewMs))} ${skewMs > 0 ? 'ahead of' : 'behind'} the provider’s`;
}

const openings = { auth_failed: 'refused', rate_limited: 'limited', api_error: 'error' } as const;

function findRefusal(errors: Description['errors'], status: number, json: ExactJson | null) {
  const usual = ({ 401: 'auth_failed', 403: 'auth_failed', 429: 'rate_limited' } as const)[status];
  const fits = (each: Description['errors'][number]) =>
    (each.status === null || each.status === status) &&
    (each.test === null || (json !== null && holds(each.test, json)));
  // A row for any error at all says less than these statuses.
  const saysLess = ({ means, test, ...each }: Description['errors'][number]) =>
    usual !== undefined && means === 'api_error' && test?.values === null && each.status === null;
  const row = errors.find((each) => fits(each) && !saysLess(each));
  const means = row?.means ?? usual;
  if (means === undefined) return null;
  return {
    means,
    said: row?.test == null ? `HTTP ${status}` : answers.saysSo({ path: row.test.path.text, status }),
  };
}

function readSuccess(
  description: Description,
  json: ExactJson,
  { status, texts }: { readonly status: number; readonly texts: ForeignTexts },
): OutcomeDetail {
  const quoted: Quote = (value) => quoteValue(value, texts);
  const invalid = (reason: string): OutcomeDetail => ({ kind: 'invalid_response', reason, status });
  const { success, postpaid } = description;
  if (success !== undefined) {
    const { path, values } = success;
    const [found, another] = json.find(path);
    if (found === undefined || another !== undefined)
      return invalid(`${path.text}, which says whether the answer is good, is not in it once`);
    if (!isAmong(found.value, values)) {
      const reason = answers.noSuccess({ path: path.text, value: quoted(found.value) });
      return { kind: 'api_error', reason: reason + quoteWords(description, json, texts), status };
    }
  }
  const sentinel = postpaid.find((test) => holds(test, json));
  if (sentinel !== undefined) {
    const reason = answers.notPrepaid({ path: sentinel.path.text });
    return { kind: 'api_error', reason, status };
  }
  const balances: Record<string, Micros> = {};
  for (const balance of description.balances) {
    const read = readAmount(json, balance, quoted);
    if ('wrong' in read) return invalid(read.wrong);
    balances[balance.id] = read.value;
  }
  const currency = readCurrency(description.currency, json, quoted);
  if ('wrong' in currency) return invalid(currency.wrong);
  // A provider that echoes a secret here would carry it into messages and the database.
  if (texts.holdsSecret(currency.value)) return invalid('the currency of the answer is no currency');
  return {
    kind: 'ok',
    answer: { currency: currency.value, balances },
    ...readFacts(description, json, quoted),
  };
}

export function holds({ path, values }: Test, json: ExactJson): boolean {
  return json.find(path).some(({ value }) => isAmong(value, values));
}

/** Compares a number and its text as equal, because vendors write codes as either. */
function isAmong(value: unknown, values: Test['values']): boolean {
  const said = (each: unknown) => (typeof each === 'number' ? String(each) : each);
  return values === null ? value !== null : values.some((each) => said(each) === said(value));
}

export function readCurrency(how: CurrencyDescription, json: ExactJson, quote: Quote): Read<string> {
  if ('unit' in how) return { value: how.unit };
  if ('fixed' in how) return { value: how.fixed };
  const found = json.find(how.path);
  const { otherwise } = how;
  // A currency that is written twice is said, but cannot be read.
  const isSaid = found.some(({ value }) => value !== null && value !== '');
  if (!isSaid && otherwise !== undefined) return { value: otherwise };
  // A map may have numbers as its words.
  const text = how.map === undefined ? found[0]?.value : (found[0]?.digits ?? found[0]?.value);
  if (found.length !== 1) return { wrong: sayCount(how.path, found.length) };
  if (typeof text !== 'string') return { wrong: `${how.path.text} is ${quote(text)}; expected a text` };
  const part = how.pattern === undefined ? text : matchGroup(text, how.pattern)?.part;
  const word = part?.trim() ?? '';
  const currency = ownOf(how.map, word) ?? word;
  if (currency === undefined || !currencyPattern.test(currency))
    return { wrong: `${how.path.text} is ${quote(text)}; expected a currency` };
  return { value: /^[a-z]{3}$/.test(currency) ? currency.toUpperCase() : currency };
}

/** Further facts of the answer. A fact that is missing or unreadable does not fail the reading. */
function readFacts(
  { facts: { autoRecharge, creditLimit, pending, date } }: Description,
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
    ...(date === undefined ? {} : { date: dayIn(json.find(date)[0]?.value) }),
  };
  return Object.keys(facts).length === 0 ? {} : { facts };
}

/** The day of a date; empty if the value is no date: an answer without a day must not pass for one of today. */
function dayIn(value: unknown): string {
  const isSeconds = typeof value === 'number' && Math.abs(value) < maxUnixSeconds;
  const day = (isSeconds ? isoText(value * secondMs) : String(value)).slice(0, 10);
  return isDay(day) ? day : '';
}

const maxUnixSeconds = 1e11;

/** Keys under which vendors describe a failure, the most detailed first. */
const usualPlaces =
  '$.error_description $.error.message $.error.detail $.detail.message $.message $.Message $.errors[0].message $.errors[0].detail $.errors[0].description $.errors[0].reason $.errors[0].title $.error_message $.errorMessage $.error_msg $.detail $.msg $.error $.errors[0] $.reason $.description $.title'
    .split(' ')
    .map(fixedPath);

/** The provider's words about a failure, even if its error is no JSON. */
function quoteMessage(
  description: Pick<Description, 'message' | 'format' | 'separator'>,
  answer: ProviderAnswer,
  texts: ForeignTexts,
): string {
  const { body } = answer;
  if (body === null) return '';
  const json = parseExactly(body);
  if (typeof json?.root === 'object' && json.root !== null) return quoteWords(description, json, texts);
  const words = typeof json?.root === 'string' ? json.root : body;
  return isMarkup(words) ? '' : quote(words, texts);
}

function quoteWords({ message }: Pick<Description, 'message'>, json: ExactJson, texts: ForeignTexts): string {
  for (const place of [message, ...usualPlaces]) {
    const value = place === undefined ? undefined : json.find(place)[0]?.value;
    const words = typeof value === 'string' ? quote(value, texts) : '';
    if (words !== '') return words;
  }
  return '';
}

function quote(words: string, texts: ForeignTexts): string {
  const clean = texts.clean(words.trim(), maxMessageLength);
  return clean === '' ? '' : answers.saying({ reason: '', message: clean });
}

export function quoteValue(value: unknown, texts: ForeignTexts): string {
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = texts.clean(String(value === ambiguous ? ambiguous.description : value), maxQuoteLength);
  return typeof value === 'string' ? `"${text}"` : text;
}
