import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { createApi } from '../src/http/api/routes.ts';

/** Where `docs/api.md` is. */
export const apiReferenceFile = join(import.meta.dirname, '../docs/api.md');

/** As much of JSON Schema and OpenAPI 3.1 as the document of the API uses; the rest is not looked at. */
interface Schema {
  readonly $ref?: string | undefined;
  readonly type?: string | readonly string[] | undefined;
  readonly enum?: readonly unknown[] | undefined;
  readonly format?: string | undefined;
  readonly description?: string | undefined;
  readonly anyOf?: readonly Schema[] | undefined;
  readonly items?: Schema | undefined;
  readonly properties?: Readonly<Record<string, Schema>> | undefined;
  readonly additionalProperties?: boolean | Schema | undefined;
  readonly required?: readonly string[] | undefined;
  readonly examples?: readonly unknown[] | undefined;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly minItems?: number | undefined;
  readonly maxItems?: number | undefined;
  readonly default?: unknown;
}

const schema: z.ZodType<Schema> = z.lazy(() =>
  z.object({
    $ref: z.string().optional(),
    type: z.union([z.string(), z.array(z.string())]).optional(),
    enum: z.array(z.unknown()).optional(),
    format: z.string().optional(),
    description: z.string().optional(),
    anyOf: z.array(schema).optional(),
    items: schema.optional(),
    properties: z.record(z.string(), schema).optional(),
    additionalProperties: z.union([z.boolean(), schema]).optional(),
    required: z.array(z.string()).optional(),
    examples: z.array(z.unknown()).optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    minItems: z.number().optional(),
    maxItems: z.number().optional(),
    default: z.unknown().optional(),
  }),
);
const content = z.record(z.string(), z.object({ schema }));
const operation = z.object({
  operationId: z.string(),
  summary: z.string(),
  parameters: z
    .array(z.object({ name: z.string(), in: z.string(), description: z.string().optional(), schema }))
    .default([]),
  requestBody: z.object({ content }).optional(),
  responses: z.record(z.string(), z.object({ description: z.string(), content })),
});
const documentShape = z.object({
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.object({ schemas: z.record(z.string(), schema) }),
});

type Operation = z.infer<typeof operation>;

/** The page of the API: every operation, and every object that travels, as the server's own document describes them. */
export async function writeApiReference(): Promise<string> {
  const api = createApi('0.1.0');
  const response = await api.request('/api/v1/openapi.json');
  const { paths, components } = documentShape.parse(await response.json());
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, each]) => writeOperation(`${method.toUpperCase()} ${path}`, each)),
  );
  const objects = Object.entries(components.schemas)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, each]) => writeObject(name, each));
  return [introduction, ...operations, '## Objects\n', ...objects].join('\n');
}

const introduction = `# The HTTP API

A running lowwater serves this API below \`/api/v1\`. This page is made from lowwater's own document at \`/api/v1/openapi.json\` (OpenAPI 3.1;
\`npm run reference\`), and a test keeps it current.

- If \`server.token\` is set, send \`Authorization: Bearer …\`.
- Instants are ISO 8601 in UTC. Money is a decimal string (\`"-18.383"\`), so that it stays exact. Unknown values are null.
- Collections come in pages if \`limit\` is given: \`nextCursor\` is the \`cursor\` of the next page, null after the last.
- A refused request is answered with a [Problem](#problem), by its status and as \`application/problem+json\` (RFC 9457).
- Every answer names the database, so that two daemons are not confused: \`Lowwater-Database\`. The answer to an order may say \`Lowwater-Stored: false\`: the order holds,
  but it is lost with the process as long as the database cannot be written. It may say \`Lowwater-Order: left\`: this daemon stands by, and the owner of the accounts does it within 2 seconds.

## Operations
`;

function writeOperation(
  title: string,
  { operationId, summary, parameters, requestBody, responses }: Operation,
): string {
  const rows = parameters.map(
    ({ name, in: place, description = '', schema: its }) =>
      `| \`${name}\` | ${place} | ${limitedTypeOf(its)} | ${cell(description)} |`,
  );
  const table = ['| parameter | in | type | |', '| --- | --- | --- | --- |', ...rows];
  const takes = Object.values(requestBody?.content ?? {}).map((each) => `Takes ${typeOf(each.schema)}.`);
  const gives = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([status, { content: bodies }]) =>
      Object.entries(bodies).map(
        ([media, body]) => `${status}: ${media === 'text/csv' ? 'CSV' : typeOf(body.schema)}.`,
      ),
    );
  const parts = [
    `### \`${title}\``,
    `${summary}. (\`${operationId}\`)`,
    ...(rows.length === 0 ? [] : [table.join('\n')]),
    [...takes, ...gives].join(' '),
  ];
  return `${parts.join('\n\n')}\n`;
}

function writeObject(
  name: string,
  { description, properties = {}, required = [], examples = [] }: Schema,
): string {
  const rows = Object.entries(properties).map(
    ([key, its]) =>
      `| \`${key}\`${required.includes(key) ? '' : ' (optional)'} | ${limitedTypeOf(its)} | ${cell(its.description ?? '')} |`,
  );
  const parts = [
    `### ${name}`,
    ...(description === undefined ? [] : [`${description}.`.replace(/\.\.$/, '.')]),
    ['| key | type | |', '| --- | --- | --- |', ...rows].join('\n'),
    ...examples.map((example) => `\`\`\`json\n${JSON.stringify(example, null, 2)}\n\`\`\``),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** A type, how large it may be, and what it is where it is not given. */
function limitedTypeOf(its: Schema): string {
  const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER, minItems = 0, maxItems } = its;
  const limits = [
    ...(maximum < Number.MAX_SAFE_INTEGER ? [`${minimum} to ${maximum}`] : []),
    ...(maxItems === undefined ? [] : [`${minItems} to ${maxItems} of them`]),
    ...(its.default === undefined ? [] : [`default ${JSON.stringify(its.default)}`]),
  ];
  return [typeOf(its), ...limits].join(', ');
}

/** A type in a few words, with a link to objects of a name. */
function typeOf(its: Schema): string {
  const { $ref, anyOf, enum: values, items, properties, additionalProperties, format } = its;
  if ($ref !== undefined) return linkTo($ref);
  if (anyOf !== undefined) return anyOf.map(typeOf).join(' or ');
  if (values !== undefined) return values.map((value) => `\`${JSON.stringify(value)}\``).join(', ');
  const types = typeof its.type === 'string' ? [its.type] : (its.type ?? ['any']);
  return types.map((type) => nameType(type)).join(' or ');

  function nameType(type: string): string {
    if (type === 'array') return `list of ${items === undefined ? 'anything' : typeOf(items)}`;
    if (type === 'string' && format === 'date-time') return 'instant';
    if (type !== 'object') return type;
    if (typeof additionalProperties === 'object') return `object of ${typeOf(additionalProperties)}`;
    const keys = Object.entries(properties ?? {}).map(([key, each]) => `\`${key}\`: ${typeOf(each)}`);
    return keys.length === 0 ? 'object' : `{ ${keys.join('; ')} }`;
  }
}

function linkTo(reference: string): string {
  const name = reference.split('/').at(-1) ?? '';
  return `[${name}](#${name.toLowerCase()})`;
}

/** Text in a cell of a table. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

if (import.meta.main) writeFileSync(apiReferenceFile, await writeApiReference());
