import * as z from 'zod';
import { shape } from '../../schema/shapes.ts';
import type { ProviderKind } from '../kind.ts';
import { buildDescribedEntry, type DescribedEntry, describedKind } from './described-kind.ts';
import { descriptionKeys } from './description.ts';
import { credentialNames } from './prepare-request.ts';

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
    buildDescribedEntry(shared, description, {
      replaceKey: 'Check the credentials and how the request uses them, or create new ones,',
    }),
  credentials: ({ request }) => credentialNames(request).map((name) => ({ name, label: name })),
  limits: ({ shortestEvery }) => ({
    ...(shortestEvery === undefined ? {} : { shortestEveryMs: shortestEvery }),
    documented: 'As the provider says; set maxRequestsPerSecond and shortestEvery.',
  }),
};
