import * as z from 'zod';
import { outcomeKinds } from '../../domain/outcome.ts';
import {
  accountSchema,
  acknowledgeOrderSchema,
  alertSchema,
  channelSchema,
  chartSchema,
  errorSchema,
  expireOrderSchema,
  explanationSchema,
  incidentSchema,
  notificationSchema,
  pointSchema,
  pollSchema,
  registry,
  silenceOrderSchema,
  silenceSchema,
} from './schema.ts';

/** One operation of the API as OpenAPI describes it. */
export interface Operation {
  readonly method: 'get' | 'post' | 'delete';
  readonly path: string;
  readonly summary: string;
  /** Names of query parameters with what they mean. */
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: z.ZodType;
  readonly status?: number;
  readonly answer: z.ZodType;
}

const since = 'Inclusive; ISO 8601, or a duration ago such as "7d"';
const until = 'Exclusive; default: now';
const limit = '1 to 1000; default 100';

export const operations: readonly Operation[] = [
  {
    method: 'get',
    path: '/accounts',
    summary: 'All accounts',
    answer: z.strictObject({ accounts: z.array(accountSchema) }),
  },
  {
    method: 'get',
    path: '/accounts/{id}',
    summary: 'One account',
    answer: z.strictObject({ account: accountSchema }),
  },
  {
    method: 'get',
    path: '/accounts/{id}/history',
    summary: 'Readings, oldest first; more than `points` come thinned with their minima and maxima',
    query: { since: `${since}; default: a week before until`, until, points: '2 to 200000; default 5000' },
    answer: z.strictObject({ points: z.array(pointSchema) }),
  },
  {
    method: 'get',
    path: '/accounts/{id}/polls',
    summary: 'Polls with their outcomes, newest first',
    query: { since: `${since}; default: a week before until`, until, limit },
    answer: z.strictObject({ polls: z.array(pollSchema) }),
  },
  {
    method: 'get',
    path: '/accounts/{id}/explain',
    summary: 'What each rule says now, with the numbers behind it',
    query: { rule: 'Only this rule' },
    answer: z.strictObject({ explanations: z.array(explanationSchema) }),
  },
  {
    method: 'get',
    path: '/accounts/{id}/chart',
    summary: 'What the chart on the page draws',
    query: { range: '24h (default), 7d, 30d or 1y', balance: 'sms (default) or voip' },
    answer: chartSchema,
  },
  {
    method: 'post',
    path: '/accounts/{id}/poll',
    summary: 'Polls as soon as the guard allows; refused with 409 while backing off',
    answer: z.strictObject({ outcome: z.enum(outcomeKinds), account: accountSchema }),
  },
  {
    method: 'get',
    path: '/alerts',
    summary: 'Alerts pending and firing, with all=true also resolved ones',
    query: { all: 'true or false' },
    answer: z.strictObject({ alerts: z.array(alertSchema) }),
  },
  {
    method: 'post',
    path: '/alerts/{account}/{rule}/ack',
    summary: 'Acknowledges the open incident of an alert',
    body: acknowledgeOrderSchema,
    answer: z.strictObject({ alert: alertSchema.nullable() }),
  },
  {
    method: 'get',
    path: '/incidents',
    summary: 'Incidents, newest first',
    query: { account: 'Only of this account', since, limit },
    answer: z.strictObject({ incidents: z.array(incidentSchema) }),
  },
  {
    method: 'get',
    path: '/notifications',
    summary: 'Messages with their delivery, newest first',
    query: { limit },
    answer: z.strictObject({ notifications: z.array(notificationSchema) }),
  },
  {
    method: 'get',
    path: '/channels',
    summary: 'Channels',
    answer: z.strictObject({ channels: z.array(channelSchema) }),
  },
  {
    method: 'get',
    path: '/silences',
    summary: 'Silences that are not over',
    answer: z.strictObject({ silences: z.array(silenceSchema) }),
  },
  {
    method: 'post',
    path: '/silences',
    summary: 'Mutes matching alerts for a time',
    body: silenceOrderSchema,
    status: 201,
    answer: z.strictObject({ silence: silenceSchema }),
  },
  {
    method: 'delete',
    path: '/silences',
    summary: 'Ends a silence; its id in the body or as ?id=',
    query: { id: 'The silence' },
    body: expireOrderSchema,
    answer: z.strictObject({ expired: z.string() }),
  },
  {
    method: 'delete',
    path: '/silences/{id}',
    summary: 'Ends a silence',
    answer: z.strictObject({ expired: z.string() }),
  },
];

const schemaOptions = {
  uri: (id: string) => `#/components/schemas/${id}`,
  io: 'input' as const,
  // `format` says enough; zod's expression for a date is longer than the rest of most schemas.
  override: ({ jsonSchema }: { readonly jsonSchema: { format?: string; pattern?: string } }) => {
    if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
  },
};

/** The OpenAPI 3.1 document, from the schemas that check what comes in and type what goes out. */
export function createOpenApi(version: string): object {
  const { schemas } = z.toJSONSchema(registry, schemaOptions);
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of operations) {
    const path = `/api/v1${operation.path}`;
    paths[path] = { ...paths[path], [operation.method]: describeOperation(operation) };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'lowwater', version, description: 'Balances, alerts and messages of a running lowwater.' },
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'server.token, where one is set' },
      },
      schemas: Object.fromEntries(
        Object.entries(schemas).map(([id, schema]) => [id, withoutDialect(schema)]),
      ),
    },
  };
}

function describeOperation({ path, summary, query = {}, body, status = 200, answer }: Operation): object {
  const parameters = [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
      name,
      in: 'path',
      required: true,
      schema: { type: 'string' },
    })),
    ...Object.entries(query).map(([name, description]) => ({
      name,
      in: 'query',
      description,
      schema: { type: 'string' },
    })),
  ];
  return {
    summary,
    parameters,
    ...(body === undefined
      ? {}
      : { requestBody: { required: !body.safeParse({}).success, content: jsonContent(body) } }),
    responses: {
      [status]: { description: summary, content: jsonContent(answer) },
      default: { description: 'Refused', content: jsonContent(errorSchema) },
    },
  };
}

function jsonContent(schema: z.ZodType): object {
  return { 'application/json': { schema: inlineSchema(schema) } };
}

/** A schema with every registered part as a reference into the components. */
function inlineSchema(schema: z.ZodType): object {
  const id = registry.get(schema)?.id;
  if (id !== undefined) return { $ref: `#/components/schemas/${id}` };
  const metadata = z.registry<{ id: string }>();
  metadata.add(schema, { id: 'answer' });
  for (const part of partsOf(schema)) {
    const known = registry.get(part)?.id;
    if (known !== undefined) metadata.add(part, { id: known });
  }
  const { schemas } = z.toJSONSchema(metadata, schemaOptions);
  return withoutDialect(schemas.answer ?? {});
}

/**
 * The schemas right under an object's keys, also inside an array or behind `nullable`; never what is inside a
 * registered one.
 */
function partsOf(schema: z.ZodType): readonly z.ZodType[] {
  if (registry.has(schema)) return [schema];
  if (schema instanceof z.ZodObject)
    return Object.values(schema.shape as Record<string, z.ZodType>).flatMap(partsOf);
  if (schema instanceof z.ZodArray) return [schema.element as z.ZodType];
  if (schema instanceof z.ZodNullable) return [schema.unwrap() as z.ZodType];
  return [schema];
}

function withoutDialect(schema: object): object {
  return Object.fromEntries(
    Object.entries(schema).filter(([key]) => key !== '$schema' && key !== '$id' && key !== 'id'),
  );
}
