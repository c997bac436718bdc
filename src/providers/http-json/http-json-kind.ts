import * as z from 'zod';
import { ownOf } from '../../domain/own.ts';
import type { ProviderEntry } from '../../domain/provider-entry.ts';
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
import { findMisplaced } from './placeholders.ts';
import { baseOf, credentialNames, prepareRequest } from './prepare-request.ts';
import { readAnswer, readToken } from './read-answer.ts';

/** An entry whose provider is described as data: by the configuration, or by a preset. */
export interface DescribedEntry extends ProviderEntry {
  readonly description: Description;
  /** Replaces scheme and host of the description. */
  readonly baseUrl: string | undefined;
}

type Context = AnswerContext<DescribedEntry>;

/** What all kinds of described providers do alike. */
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

/** An entry from what all entries share, and a description. */
export function buildDescribedEntry(
  shared: SharedEntry,
  description: Description,
  replaceKey: string,
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
    words: { replaceKey, keyName: 'credentials', addressKey: 'baseUrl' },
  };
}

export function nameBalance({
  id,
  label,
  alertsBelowZero,
  unit,
}: Description['balances'][number]): BalanceDefinition {
  const shown = label ?? id.charAt(0).toUpperCase() + id.slice(1);
  return { id, label: shown, alertsBelowZero, ...(unit === undefined ? {} : { unit }) };
}

export const httpJsonSchema = shape({
  type: z
    .literal('http-json')
    .meta({ description: 'A provider that is described here: one request with an answer in JSON or text.' }),
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
    buildDescribedEntry(
      shared,
      description,
      'Check the credentials and how the request uses them, or create new ones,',
    ),
  credentials: (config) => credentialNames(config).map((name) => ({ name, label: name })),
  limits: ({ shortestEvery }) => ({
    ...(shortestEvery === undefined ? {} : { shortestEveryMs: shortestEvery }),
    documented: 'As the provider says; set maxRequestsPerSecond and shortestEvery.',
  }),
};
