import type { Secret } from '../domain/secret.ts';
import type { AnswerContext, ProviderAnswer, ProviderKind, ProviderRequest, ReadPart } from './kind.ts';

/** One exchange as it went over the wire; `answer` is null where none came. */
export interface SeenExchange extends AnswerContext {
  readonly kind: ProviderKind;
  readonly request: ProviderRequest;
  readonly answer: ProviderAnswer | null;
}

/** An exchange for people, without secrets: each text is one line. */
export interface DescribedExchange {
  readonly account: string;
  /** The first line, headers, body. Credentials stand in it by their names in brackets. */
  readonly request: readonly string[];
  /** The status and the body as it came, cut; null where none came. */
  readonly answer: string | null;
  readonly read: readonly ReadPart[];
}

/** Longest answer that is shown, in characters. */
const maxShown = 4000;

export function describeExchange(seen: SeenExchange): DescribedExchange {
  const { kind, request, answer, account, texts } = seen;
  const show = (text: string): string => texts.clean(nameCredentials(text, account.credentials), maxShown);
  const headers = Object.entries(request.headers).map(
    ([name, value]) => `${name}: ${show(typeof value === 'string' ? value : decodeBasic(value.reveal()))}`,
  );
  const body = request.body === null ? [] : [show(request.body.reveal())];
  return {
    account: account.id,
    request: [`${request.method} ${show(request.url.reveal())}`, ...headers, ...body],
    answer: answer === null ? null : `HTTP ${answer.status} ${show(answer.body ?? `(${answer.problem})`)}`,
    read: answer === null ? [] : (kind.explainAnswer?.(answer, seen) ?? []),
  };
}

/** What a request holds of credentials, as it is or encoded, by their names. */
function nameCredentials(text: string, credentials: Readonly<Record<string, Secret>>): string {
  let named = text;
  for (const [name, secret] of Object.entries(credentials)) {
    const value = secret.reveal();
    const encoded = value.isWellFormed() ? encodeURIComponent(value) : value;
    for (const form of new Set([value, encoded])) named = named.replaceAll(form, `[${name}]`);
  }
  return named;
}

function decodeBasic(header: string): string {
  const [, encoded] = /^Basic (.+)$/.exec(header) ?? [];
  return encoded === undefined ? header : `Basic ${Buffer.from(encoded, 'base64')}`;
}
