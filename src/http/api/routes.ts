import { OpenAPIHono } from '@hono/zod-openapi';
import type { WebEnv } from '../web-env.ts';
import { accountOperations } from './accounts.ts';
import { alertOperations, messageOperations, silenceOperations } from './alerts.ts';
import { daemonOperations } from './daemon.ts';
import { refuseInput } from './input.ts';
import type { Api, Operation } from './operation.ts';
import { paymentOperations } from './pay.ts';
import { reviewOperations } from './review.ts';
import { forecastOperations } from './spending-forecast.ts';

const allOperations: readonly Operation[] = [
  ...accountOperations,
  ...alertOperations,
  ...silenceOperations,
  ...messageOperations,
  ...paymentOperations,
  ...forecastOperations,
  ...reviewOperations,
  ...daemonOperations,
];

/** The JSON API with its document. Each operation is described where it is implemented. */
export function createApi(version: string): Api {
  const api = new OpenAPIHono<WebEnv>({
    defaultHook: (result) => {
      if (!result.success) throw refuseInput(result.error);
    },
  });
  for (const add of allOperations) add(api);
  api.get('/api/v1/openapi.json', (context) => context.json(describeApi(api, version)));
  return api;
}

function describeApi(api: Api, version: string): object {
  const document = api.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'lowwater',
      version,
      description: 'Balances, alerts and messages of a running lowwater.',
      license: { name: 'MIT', url: 'https://spdx.org/licenses/MIT' },
    },
    servers: [{ url: '/', description: 'The server that gives this document' }],
    security: [{ token: [] }],
  });
  return {
    ...document,
    components: {
      ...document.components,
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'server.token, where one is set' },
      },
    },
  };
}
