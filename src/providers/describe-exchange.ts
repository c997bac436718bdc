import type { Secret } from '../domain/secret.ts';
import { percentEncode } from './http-json/prepare-request.ts';
import type { AnswerContext, ProviderAnswer, ProviderKind, ProviderRequest } from './kind.ts';

/** One exchange as it went over the wire; `answer` is null if none came. */
export interface SeenExchange extends AnswerContext {
  readonly kind: ProviderKind;
  readonly request: ProviderRequest;
  readonly answer: ProviderAnswer | null;
  /** Whether it asked for a token, not for a balance. */
  readonly isForToken: boolean;
}

const maxShown = 4000;

/**
 * An exchange for people, without secrets, each text on one line. The request (first line, headers, body) shows the names of credentials in
 * brackets; `answer` is the status and the body as it came, cut.
 */
export function describeExchange(seen: SeenExchange) {
  const { kind, request, answer, account, texts } = seen;
  const hashes = (request.signed ?? []).flatMap(({ step, secretResult }) =>
    secretResult === undefined ? [] : [[step, secretResult] as const],
  );
  // A step may have the name of a credential, so both are replaced.
  const named = [...Object.entries(account.credentials), ...hashes];
  const show = (text: string): string => texts.clean(nameCredentials(text, named), maxShown);
  const headers = Object.entries(request.headers).map(
    ([name, value]) => `${name}: ${show(typeof value === 'string' ? value : decodeBasic(value.reveal()))}`,
  );
  const body = request.body === null ? [] : [show(request.body.reveal())];
  return {
    account: account.id,
    request: [`${request.method} ${show(request.url.reveal())}`, ...headers, ...body],
    /** The text that was signed or hashed, with its step. */
    signed: (request.signed ?? []).map(({ step, text }) => ({
      step,
      text: show(text.reveal().replaceAll('\n', '\\n')),
    })),
    answer: answer === null ? null : `HTTP ${answer.status} ${show(bodyOf(seen, answer))}`,
    read: answer === null || seen.isForToken ? [] : (kind.explainAnswer?.(answer, seen) ?? []),
  };
}

function bodyOf(seen: SeenExchange, answer: ProviderAnswer): string {
  return answer.body === null ? `(${answer.problem})` : (seen.kind.showAnswer?.(answer, seen) ?? answer.body);
}

export type DescribedExchange = ReturnType<typeof describeExchange>;

/** A text with the names of credentials in place of their values, plain or encoded. The longest first: a short value may be a part of another. */
function nameCredentials(text: string, credentials: readonly (readonly [string, Secret])[]): string {
  const forms = credentials.flatMap(([name, secret]) =>
    formsOf(secret.reveal()).map((form) => ({ name, form })),
  );
  let named = text;
  for (const { name, form } of forms.toSorted((one, other) => other.form.length - one.form.length))
    named = named.replaceAll(form, () => `[${name}]`);
  return named;
}

/** The forms of a value that a request can hold: in a header, a path, a query, a form and JSON. */
function formsOf(value: string): readonly string[] {
  const well = value.toWellFormed();
  const inForm = new URLSearchParams({ '': well }).toString().slice(1);
  const inJson = JSON.stringify(value).slice(1, -1);
  return [value, encodeURIComponent(well), percentEncode(well), inForm, inJson].filter((form) => form !== '');
}

function decodeBasic(header: string): string {
  const [, encoded] = /^Basic (.+)$/.exec(header) ?? [];
  return encoded === undefined ? header : `Basic ${Buffer.from(encoded, 'base64')}`;
}
