import * as z from 'zod';
import type { ForeignTexts } from '../../domain/foreign-text.ts';
import { parseWithSource, withoutByteOrderMark } from '../../domain/json.ts';
import { parseMicros } from '../../domain/money.ts';
import type { OutcomeDetail } from '../../domain/reading.ts';
import type { ProviderAnswer } from '../kind.ts';
import { envelopeCodes } from './endpoints.ts';

/** The part of an answer that its envelope is read from. */
type HttpAnswer = Pick<ProviderAnswer, 'status' | 'body' | 'problem'>;

/** Longest message of the provider that a reason quotes, in characters. */
const maxMessageLength = 200;

/** Unknown fields are only named for the log; a hostile answer must not fill it. */
const maxUnknownFields = 10;
const maxFieldNameLength = 60;

/**
 * Any integer `code` makes an envelope; `msg` may be missing. A missing key fails even for `z.unknown()`, so `result` says
 * that it is optional.
 */
const envelopeSchema = z.object({
  code: z.int(),
  msg: z.string().optional(),
  result: z.unknown().optional(),
});

/** The two codes that lowwater must never miss say enough whatever stands beside them. */
const plainRefusal = z.object({ code: z.literal([envelopeCodes.rateLimited, envelopeCodes.authFailed]) });

/** Up to 16 visible characters: what is strange but printable is kept and escaped where it is shown. */
const currencyPattern = /^(?:[A-Z]{3}|(?=.*\S)[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]{1,16})$/u;

/**
 * Balances are millionths here already (see `parseBody`); one that is out of range is NaN, which is no number
 * to zod.
 */
const balanceSchema = z.object({
  smsBalance: z.number(),
  voipBalance: z.number(),
  currency: z.string().regex(currencyPattern).trim(),
});

type Envelope = z.infer<typeof envelopeSchema>;

/**
 * What an answer to the balance request means. The envelope is read whatever the HTTP status is.
 *
 * `texts` knows the secrets that the provider may echo. Reasons never quote the body, only the provider's `msg`, cleaned
 * and cut.
 */
export function judgeAnswer(answer: HttpAnswer, texts: ForeignTexts): OutcomeDetail {
  const parsed = answer.body === null ? undefined : parseBody(answer.body);
  const envelope = readEnvelope(parsed);
  if (answer.status === 429) return rateLimitedByStatus(envelope, texts);
  if (envelope === undefined) return withoutEnvelope(answer, parsed);
  return judgeEnvelope({ envelope, raw: parsed, status: answer.status, texts });
}

function readEnvelope(parsed: unknown): Envelope | undefined {
  return envelopeSchema.safeParse(parsed).data ?? plainRefusal.safeParse(parsed).data;
}

interface ReadEnvelope {
  readonly envelope: Envelope;
  /** The parsed body with the fields that the schema does not know. */
  readonly raw: unknown;
  readonly status: number;
  readonly texts: ForeignTexts;
}

function judgeEnvelope(read: ReadEnvelope): OutcomeDetail {
  const { envelope, status, texts } = read;
  // -0 is an integer to zod; adding zero makes it 0.
  const code = envelope.code + 0;
  if (code === envelopeCodes.success) return judgeResult(read);
  const said = quoteMessage(envelope.msg, texts);
  if (code === envelopeCodes.rateLimited) {
    return { kind: 'rate_limited', reason: `rate limited: code ${code}${said}`, code, status };
  }
  if (code === envelopeCodes.authFailed) {
    return {
      kind: 'auth_failed',
      reason: `the provider refuses the authSecret: code ${code}${said}`,
      code,
      status,
    };
  }
  return { kind: 'api_error', reason: `the provider answered code ${code}${said}`, code, status };
}

function judgeResult({ envelope, raw, status, texts }: ReadEnvelope): OutcomeDetail {
  const { code, result } = envelope;
  const read = balanceSchema.safeParse(result);
  if (!read.success) {
    return { kind: 'invalid_response', reason: describeBadResult(result, read.error), code, status };
  }
  const { smsBalance, voipBalance, currency } = read.data;
  // A provider that echoes the secret here would carry it into messages and the database.
  if (texts.holdsSecret(currency)) {
    return { kind: 'invalid_response', reason: 'result.currency is no currency', code, status };
  }
  const answer = { balances: { sms: smsBalance, voip: voipBalance }, currency };
  const unknownFields = findUnknownFields(raw, result, texts);
  return unknownFields.length === 0 ? { kind: 'ok', answer } : { kind: 'ok', answer, unknownFields };
}

function rateLimitedByStatus(envelope: Envelope | undefined, texts: ForeignTexts): OutcomeDetail {
  if (envelope === undefined) return { kind: 'rate_limited', reason: 'rate limited: HTTP 429', status: 429 };
  const code = envelope.code + 0;
  const reason = `rate limited: HTTP 429, code ${code}${quoteMessage(envelope.msg, texts)}`;
  return { kind: 'rate_limited', reason, code, status: 429 };
}

function withoutEnvelope(answer: HttpAnswer, parsed: unknown): OutcomeDetail {
  const { status } = answer;
  if (status !== 200) return { kind: 'http_error', reason: describeStatus(status), status };
  return { kind: 'invalid_response', reason: describeBadBody(answer, parsed), status };
}

function describeStatus(status: number): string {
  if (status >= 300 && status < 400) return `HTTP ${status}, a redirect; it is never followed`;
  return `HTTP ${status} without an answer of the provider`;
}

function describeBadBody(answer: HttpAnswer, parsed: unknown): string {
  if (answer.body === null) {
    return answer.problem === 'too-large'
      ? 'the answer is too large'
      : 'the answer is compressed, which was not asked for';
  }
  return parsed === undefined
    ? 'the answer is not JSON'
    : 'the answer is not the documented envelope: an integer code, and msg a text';
}

function describeBadResult(result: unknown, error: z.ZodError): string {
  const field = error.issues[0]?.path[0];
  if (field === undefined) return 'the answer says success and has no result';
  const value: unknown = Reflect.get(Object(result), field);
  if (value === undefined) return `result.${String(field)} is missing`;
  if (Number.isNaN(value)) return `result.${String(field)} is out of range`;
  return `result.${String(field)} is not what the interface says`;
}

function quoteMessage(message: string | undefined, texts: ForeignTexts): string {
  const clean = texts.clean(message ?? '', maxMessageLength);
  return clean === '' ? '' : `, "${clean}"`;
}

/** Fields that the interface does not name: harmless, and worth one line in the log. */
function findUnknownFields(raw: unknown, result: unknown, texts: ForeignTexts): readonly string[] {
  const unknown: string[] = [];
  collectUnknown({ value: raw, known: envelopeSchema.shape, prefix: '', into: unknown });
  collectUnknown({ value: result, known: balanceSchema.shape, prefix: 'result.', into: unknown });
  return unknown.map((name) => texts.clean(name, maxFieldNameLength));
}

function collectUnknown(search: { value: unknown; known: object; prefix: string; into: string[] }): void {
  for (const name in Object(search.value)) {
    if (Object.hasOwn(search.known, name)) continue;
    if (search.into.length >= maxUnknownFields) return;
    search.into.push(search.prefix + name);
  }
}

/** Numbers of at most 15 digits survive the way through a binary float and back (IEEE 754: DBL_DIG). */
const longNumber = /[\d.]{16}/;

/**
 * Parses a body with both balances as millionths, exact from the digits as written; NaN where one is out of
 * range. Undefined where the text is not JSON, or nested too deep to walk.
 */
function parseBody(text: string): unknown {
  const json = withoutByteOrderMark(text);
  try {
    if (longNumber.test(json)) return parseWithSource(json, readExactly);
    // A reviver makes parsing five times as slow, and is needed for long numbers only.
    return readShort(JSON.parse(json));
  } catch {
    return undefined;
  }
}

function readExactly(key: string, value: unknown, context: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || !isBalance(key)) return value;
  return parseMicros(context.source ?? '') ?? Number.NaN;
}

function readShort(parsed: unknown): unknown {
  const result: unknown = Object(parsed).result;
  if (typeof result !== 'object' || result === null) return parsed;
  for (const key of ['smsBalance', 'voipBalance']) {
    const value: unknown = Reflect.get(result, key);
    if (typeof value === 'number') Reflect.set(result, key, parseMicros(String(value)) ?? Number.NaN);
  }
  return parsed;
}

function isBalance(key: string): boolean {
  return key === 'smsBalance' || key === 'voipBalance';
}
