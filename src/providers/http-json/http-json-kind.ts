import * as z from 'zod';
import type { ProviderEntry } from '../../domain/provider-entry.ts';
import type { BalanceDefinition, OutcomeDetail } from '../../domain/reading.ts';
import { shape } from '../../schema/shapes.ts';
import type { AnswerContext, ProviderAccount, ProviderAnswer, ProviderKind, SharedEntry } from '../kind.ts';
import { type Description, descriptionKeys } from './description.ts';
import { baseOf, credentialNames, prepareRequest } from './prepare-request.ts';
import { explainAnswer, readAnswer } from './read-answer.ts';

/** An entry whose provider is described as data: by the configuration, or by a preset. */
export interface DescribedEntry extends ProviderEntry {
  readonly description: Description;
  /** Replaces scheme and host of the description. */
  readonly baseUrl: string | undefined;
}

/** What all kinds of described providers do alike. */
export const describedKind = {
  polled: true,
  request: ({ description, baseUrl }: DescribedEntry, { credentials }: ProviderAccount) =>
    prepareRequest(description.request, credentials, baseUrl),
  readAnswer: (answer: ProviderAnswer, { entry, texts }: AnswerContext<DescribedEntry>): OutcomeDetail =>
    readAnswer(entry.description, answer, texts),
  explainAnswer: (answer: ProviderAnswer, { entry, texts }: AnswerContext<DescribedEntry>) =>
    explainAnswer(entry.description, answer, texts),
} satisfies Partial<ProviderKind<{ readonly type?: string }, DescribedEntry>>;

/** An entry from what all entries share, and a description. */
export function buildDescribedEntry(
  shared: SharedEntry,
  description: Description,
  replaceKey: string,
  baseUrl?: string,
): DescribedEntry {
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
}: Description['balances'][number]): BalanceDefinition {
  return { id, label: label ?? id.charAt(0).toUpperCase() + id.slice(1), alertsBelowZero };
}

export const httpJsonSchema = shape({
  type: z
    .literal('http-json')
    .meta({ description: 'A provider that is described here: one request with an answer in JSON.' }),
  ...descriptionKeys,
});

type HttpJsonConfig = z.output<typeof httpJsonSchema>;

/** Any provider that answers one HTTP request with its balances in JSON, described in the configuration. */
export const httpJsonKind: ProviderKind<HttpJsonConfig, DescribedEntry> = {
  ...describedKind,
  type: 'http-json',
  summary: 'Any provider that answers one HTTP request with JSON, described in the configuration.',
  source: { reference: 'your configuration', certainty: 'documented' },
  schema: httpJsonSchema,
  requestKey: 'request',
  build: (shared, { type: _type, ...description }) =>
    buildDescribedEntry(
      shared,
      description,
      'Check the credentials and how the request uses them, or create new ones,',
    ),
  credentials: ({ request }) => credentialNames(request).map((name) => ({ name, label: name })),
  limits: ({ shortestEvery }) => ({
    ...(shortestEvery === undefined ? {} : { shortestEveryMs: shortestEvery }),
    documented: 'As the provider says; set maxRequestsPerSecond and shortestEvery.',
  }),
};
