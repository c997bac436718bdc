import * as z from 'zod';
import { ownOf } from '../../domain/own.ts';
import type { ProviderEntry, ProviderWords } from '../../domain/provider-entry.ts';
import type { BalanceDefinition, OutcomeDetail } from '../../domain/reading.ts';
import { shape } from '../../schema/shapes.ts';
import type {
  AnswerContext,
  Attempt,
  EntryProblem,
  ProviderAccount,
  ProviderAnswer,
  ProviderKind,
  SharedEntry,
} from '../kind.ts';
import { type Description, descriptionKeys } from './description.ts';
import { explainAnswer, showAnswer } from './explain-answer.ts';
import { placeholdersIn } from './placeholders.ts';
import { type AskDescription, baseOf, credentialNames, prepareRequest } from './prepare-request.ts';
import { readAnswer, readToken } from './read-answer.ts';

/** An entry whose provider is described as data: by the configuration, or by a preset. */
export interface DescribedEntry extends ProviderEntry {
  readonly description: Description;
  /** Replaces the scheme and host of the description. */
  readonly baseUrl: string | undefined;
}

type Context = AnswerContext<DescribedEntry>;

export const describedKind = {
  polled: true,
  request: ({ description, baseUrl }: DescribedEntry, { credentials }: ProviderAccount, attempt?: Attempt) =>
    prepareRequest(description, credentials, attempt, baseUrl),
  tokenRequest(entry: DescribedEntry, { credentials }: ProviderAccount, attempt?: Attempt) {
    const { token } = entry.description;
    if (token === undefined) return null;
    const request = prepareRequest(token, credentials, attempt, entry.baseUrl);
    const given = credentialNames(token).map((name) => ownOf(credentials, name)?.reveal());
    return 'reason' in request ? request : { ...request, key: JSON.stringify(given) };
  },
  readToken: (answer: ProviderAnswer, context: Context) =>
    readToken(context.entry.description, answer, context),
  readAnswer: (answer: ProviderAnswer, context: Context): OutcomeDetail =>
    readAnswer(context.entry.description, answer, context),
  showAnswer: (answer: ProviderAnswer, { entry, texts }: Context) =>
    showAnswer(entry.description, answer, texts),
  explainAnswer: (answer: ProviderAnswer, { entry, texts }: Context) =>
    explainAnswer(entry.description, answer, texts),
} satisfies Partial<ProviderKind<{ readonly type?: string }, DescribedEntry>>;

/** Builds an entry from what all entries share and a description. */
export function buildDescribedEntry(
  shared: SharedEntry,
  description: Description,
  words: Pick<ProviderWords, 'replaceKey' | 'addressKey'>,
  baseUrl?: string,
): DescribedEntry | { readonly problems: readonly EntryProblem[] } {
  const problems = findMisplaced(description);
  if (problems.length > 0) return { problems };
  return {
    ...shared,
    description,
    baseUrl,
    address: baseOf(description.request.url, baseUrl),
    polled: true,
    balances: description.balances.map(nameBalance),
    ...(description.facts.creditLimit?.included === false ? { saysCreditLimit: true } : {}),
    words: { ...words, keyName: 'credentials' },
  };
}

export function nameBalance(described: Description['balances'][number]): BalanceDefinition {
  const { id, label = id.charAt(0).toUpperCase() + id.slice(1), alertsBelowZero, unit } = described;
  return { id, label, alertsBelowZero, ...(unit === undefined ? {} : { unit }) };
}

export const httpJsonSchema = shape({
  type: z
    .literal('http-json')
    .describe('A provider that is described here: one request with an answer in JSON or text.'),
  ...descriptionKeys,
});

type HttpJsonConfig = z.output<typeof httpJsonSchema>;

/** Any provider that answers one HTTP request with its balances, described in the configuration. */
export const httpJsonKind: ProviderKind<HttpJsonConfig, DescribedEntry> = {
  ...describedKind,
  type: 'http-json',
  summary: 'Any provider that answers one HTTP request with JSON or text, described in the configuration.',
  source: { reference: 'your configuration', certainty: 'documented' },
  schema: httpJsonSchema,
  requestKeys: ['request', 'sign', 'token'],
  build: (shared, { type: _type, ...description }) =>
    buildDescribedEntry(shared, description, {
      replaceKey: 'Check the credentials and how the request uses them, or create new ones,',
      addressKey: 'request.url',
    }),
  credentials: (config) => credentialNames(config).map((name) => ({ name, label: name })),
  limits: ({ shortestEvery }) => ({
    ...(shortestEvery === undefined ? {} : { shortestEveryMs: shortestEvery }),
    documented: 'As the provider says; set maxRequestsPerSecond and shortestEvery.',
  }),
};

/** Finds placeholders without a value at their place: a step that comes later or not at all, or a token that no request brings. */
export function findMisplaced({ request, sign = {}, token }: AskDescription): readonly EntryProblem[] {
  const problems: EntryProblem[] = [];
  const known = new Set<string>();
  const look = (path: readonly string[], value: unknown, isKnown: (name: string) => boolean): void => {
    const wrong = placeholdersIn(JSON.stringify(value)).find(
      (name) => !name.startsWith('credentials.') && !isKnown(name),
    );
    if (wrong !== undefined) problems.push({ path, message: `{{${wrong}}} stands for nothing here` });
  };
  const isToken = (name: string) => name === 'token' && token !== undefined;
  if (token !== undefined) look(['token', 'request'], token.request, () => false);
  const { json, form, headers = {} } = request;
  const values = new Map([
    ['host', ''],
    ...(json === undefined && form === undefined ? [] : [['content-type', ''] as const]),
    ...Object.entries(headers).map(([name, text]) => [name.toLowerCase(), text] as const),
  ]);
  const isWritten = (header: string) => {
    const text = values.get(header);
    return (
      text !== undefined && placeholdersIn(text).every((each) => !each.startsWith('sign.') || known.has(each))
    );
  };
  const inAddress = placeholdersIn(request.url).filter((name) => name.startsWith('sign.'));
  for (const [name, step] of Object.entries(sign)) {
    const isWhole = inAddress.every((each) => known.has(each));
    look(
      ['sign', name],
      step,
      (each) => known.has(each) || isToken(each) || (isWhole && each.startsWith('request.')),
    );
    known.add(`sign.${name}`);
    if (!('headers' in step)) continue;
    known.add(`sign.${name}.names`);
    const unsent = step.headers.find((each) => !isWritten(each));
    if (unsent !== undefined)
      problems.push({
        path: ['sign', name],
        message: `"${unsent}" is no header of the request, or holds a later step`,
      });
  }
  look(['request'], request, (each) => known.has(each) || isToken(each));
  if (token !== undefined && !placeholdersIn(JSON.stringify([request, sign])).includes('token'))
    problems.push({ path: ['token'], message: 'is not used: the request must hold {{token}}' });
  return problems;
}
