import * as z from 'zod';
import type { ForeignTexts } from '../../domain/foreign-text.ts';
import { keyOf, parseWithSource, withoutByteOrderMark } from '../../domain/json.ts';
import { currencyPattern, parseMicros } from '../../domain/money.ts';
import type { OutcomeDetail } from '../../domain/reading.ts';
import { ambiguous, markAmbiguous } from '../../net/ambiguity.ts';
import { sentences } from '../../wording/phrase.ts';
import { answers } from '../answers.ts';
import type { ProviderAnswer } from '../kind.ts';
import { envelopeCodes } from './endpoints.ts';

/** The part of an answer from which its envelope is read. */
type HttpAnswer = Pick<ProviderAnswer, 'status' | 'body' | 'problem'>;

/** The longest message of the provider that a reason quotes, in characters. */
const maxMessageLength = 200;

/** The longest code that a reason quotes, in characters: a code that no JavaScript number holds exactly may have many digits. */
const maxCodeLength = 60;

/** Unknown fields are only named for the log; a hostile answer must not fill it. */
const maxUnknownFields = 10;
const maxFieldNameLength = 60;

/** Any integer `code` makes an envelope. A missing key fails even for `z.unknown()`, so `result` says that it is optional. */
const envelopeSchema = z.object({
  code: z.union([z.int(), z.bigint()]),
  msg: z.string().optional(),
  result: z.unknown().optional(),
});

/** The two codes that lowwater must never miss suffice, even if the rest of the envelope is malformed. */
const plainRefusal = z.object({ code: z.literal([envelopeCodes.rateLimited, envelopeCodes.authFailed]) });

/** Balances are millionths already (`parseBody`); one out of range is NaN, which is no number to zod. */
const balanceSchema = z.object({
  smsBalance: z.number(),
  voipBalance: z.number(),
  currency: z.string().regex(currencyPattern).trim(),
});

const told = sentences('envelope', {
  limited: 'rate limited: code {code}',
  limitedTwice: 'rate limited: HTTP 429, code {code}',
  refused: 'the provider refuses the authSecret: code {code}',
  answered: 'the provider answered code {code}',
  noAnswer: 'HTTP {status} without an answer of the provider',
  noEnvelope: 'the answer is not the documented envelope: an integer code, and msg a text',
});

type Envelope = z.infer<typeof envelopeSchema>;

/**
 * The outcome of an answer to the balance request. The envelope is read with every HTTP status.
 *
 * `texts` knows the secrets that the provider may echo. Reasons never quote the body, only the provider's `msg`, cleaned and cut.
 */
export function judgeAnswer(answer: HttpAnswer, texts: ForeignTexts): OutcomeDetail {
  const { status, body } = answer;
  const parsed = body === null ? undefined : parseBody(body);
  const envelope: Envelope | undefined =
    envelopeSchema.safeParse(parsed).data ?? plainRefusal.safeParse(parsed).data;
  if (envelope === undefined) return withoutEnvelope(answer, parsed);
  // -0 is an integer to zod; adding zero makes it 0.
  const number = typeof envelope.code === 'bigint' ? null : envelope.code + 0;
  if (number === envelopeCodes.success && status !== 429)
    return judgeResult(parsed, envelope, { code: number, status, texts });
  const message = texts.clean(envelope.msg ?? '', maxMessageLength);
  const place = number === null ? { status } : { code: number, status };
  const code = texts.clean(String(number ?? envelope.code), maxCodeLength);
  const say = (reason: string) => (message === '' ? reason : answers.saying({ reason, message }));
  if (status === 429 || number === envelopeCodes.rateLimited) {
    const reason = status === 429 ? told.limitedTwice({ code }) : told.limited({ code });
    return { kind: 'rate_limited', reason: say(reason), ...place };
  }
  if (number === envelopeCodes.authFailed)
    return { kind: 'auth_failed', reason: say(told.refused({ code })), ...place };
  return { kind: 'api_error', reason: say(told.answered({ code })), ...place };
}

function judgeResult(
  raw: unknown,
  { result }: Envelope,
  { texts, ...place }: { readonly code: number; readonly status: number; readonly texts: ForeignTexts },
): OutcomeDetail {
  const read = balanceSchema.safeParse(result);
  if (!read.success)
    return { kind: 'invalid_response', reason: describeBadResult(result, read.error), ...place };
  const { smsBalance, voipBalance, currency } = read.data;
  // A provider that echoes the secret here would carry it into messages and the database.
  if (texts.holdsSecret(currency))
    return { kind: 'invalid_response', reason: 'result.currency is no currency', ...place };
  const answer = { balances: { sms: smsBalance, voip: voipBalance }, currency };
  const unknownFields = [
    ...namesBeyond(raw, envelopeSchema.shape),
    ...namesBeyond(result, balanceSchema.shape).map((name) => `result.${name}`),
  ].slice(0, maxUnknownFields);
  const named = unknownFields.map((name) => texts.clean(name, maxFieldNameLength));
  return { kind: 'ok', answer, ...(named.length > 0 && { unknownFields: named }) };
}

function withoutEnvelope(answer: HttpAnswer, parsed: unknown): OutcomeDetail {
  const { status } = answer;
  if (status === 429) return { kind: 'rate_limited', reason: answers.limited({ said: 'HTTP 429' }), status };
  if (status !== 200) return { kind: 'http_error', reason: describeStatus(status), status };
  return { kind: 'invalid_response', reason: describeBadBody(answer, parsed), status };
}

function describeStatus(status: number): string {
  if (status >= 300 && status < 400) return answers.redirect({ status });
  return told.noAnswer({ status });
}

function describeBadBody(answer: HttpAnswer, parsed: unknown): string {
  if (answer.body === null) return answer.problem === 'too-large' ? answers.tooLarge() : answers.compressed();
  const unclear = ['code', 'msg'].find((key) => keyOf(parsed, key) === ambiguous);
  if (unclear !== undefined) return `${unclear} is ${ambiguous.description}`;
  return parsed === undefined ? answers.not({ wanted: 'JSON' }) : told.noEnvelope();
}

function describeBadResult(result: unknown, error: z.ZodError): string {
  const field = error.issues[0]?.path[0];
  if (result === ambiguous) return `result is ${ambiguous.description}`;
  if (field === undefined) return 'the answer says success and has no result';
  const value: unknown = Reflect.get(Object(result), field);
  if (value === undefined) return `result.${String(field)} is missing`;
  if (value === ambiguous) return `result.${String(field)} is ${ambiguous.description}`;
  if (Number.isNaN(value)) return `result.${String(field)} is out of range`;
  return `result.${String(field)} is not what the interface says`;
}

/** Fields that the interface does not name: they are harmless, and worth one line in the log. */
function namesBeyond(value: unknown, known: object): readonly string[] {
  return Object.keys(Object(value)).filter((name) => !Object.hasOwn(known, name));
}

/** Numbers of at most 15 digits survive the way through a binary float and back (IEEE 754: DBL_DIG). */
const longNumber = /\d[\d.]{15}/;

const balanceKeys: readonly string[] = ['smsBalance', 'voipBalance'];

/**
 * The body with amounts as millionths, exact from the digits; NaN if out of range. A value that is written twice, differently, is `ambiguous`.
 * A code that no number holds exactly is a bigint. Undefined if the text is no JSON, or nested too deep.
 */
function parseBody(text: string): unknown {
  const json = withoutByteOrderMark(text);
  try {
    // A reviver makes parsing five times as slow, and only long numbers need it.
    const parsed = longNumber.test(json) ? parseWithSource(json, readExactly) : readShort(JSON.parse(json));
    markAmbiguous(json, parsed);
    return parsed;
  } catch {
    return undefined;
  }
}

function readExactly(key: string, value: unknown, context: { readonly source?: string }): unknown {
  if (typeof value !== 'number') return value;
  const source = context.source ?? '';
  if (balanceKeys.includes(key)) return parseMicros(source) ?? Number.NaN;
  return key === 'code' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? BigInt(source) : value;
}

function readShort(parsed: unknown): unknown {
  const result: unknown = Object(parsed).result;
  if (typeof result !== 'object' || result === null) return parsed;
  for (const key of balanceKeys) {
    const value: unknown = Reflect.get(result, key);
    if (typeof value === 'number') Reflect.set(result, key, parseMicros(String(value)) ?? Number.NaN);
  }
  return parsed;
}
