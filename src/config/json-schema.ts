import * as z from 'zod';
import { configSchema } from './schema/config.ts';

/**
 * The JSON Schema of the file, for editors. Any string may hold placeholders, so that where a number, a flag
 * or one of some words is asked for, a string with a placeholder passes too.
 */
export function configJsonSchema(): object {
  const schema = z.toJSONSchema(configSchema, {
    io: 'input',
    override: ({ zodSchema, jsonSchema, path }) => {
      if (zodSchema === configSchema.shape.accounts) allowFiles(jsonSchema);
      if (replaceable.has(zodSchema._zod.def.type) && path.at(-2) !== 'anyOf') allowPlaceholder(jsonSchema);
    },
  });
  return {
    ...schema,
    title: 'lowwater configuration',
    description: 'Configuration of lowwater. Durations are strings such as "90s", "5m", "1h30m" or "2d".',
  };
}

const replaceable: ReadonlySet<string> = new Set(['number', 'boolean', 'enum']);
const placeholder = { type: 'string', pattern: '\\$\\{' } as const;

/** The lists of other files are put in the place of the object before the schema sees it. */
function allowFiles(jsonSchema: z.core.JSONSchema.BaseSchema): void {
  const { description, ...list } = jsonSchema;
  for (const key of Object.keys(list)) delete jsonSchema[key];
  const files = {
    type: 'string',
    description:
      'Files beside this one that each hold a list of accounts, such as "accounts.d/*.json"; a * stands in the name of the file only.',
  } as const;
  jsonSchema.anyOf = [
    list,
    { type: 'object', properties: { files }, required: ['files'], additionalProperties: false },
  ];
}

/** zod visits a schema once for each layer around it; the wrapping is done on the first visit and kept. */
function allowPlaceholder(jsonSchema: z.core.JSONSchema.BaseSchema): void {
  if (jsonSchema.anyOf !== undefined) return;
  const { description, default: fallback, ...own } = jsonSchema;
  for (const key of Object.keys(own)) delete jsonSchema[key];
  jsonSchema.anyOf = [own, { ...placeholder }];
}

/** The keys at which, or right below which, the schemas have secrets. */
export function listSecretKeys(): ReadonlySet<string> {
  const found = new Set<string>();
  const look = (schema: unknown, key: string): void => {
    if (typeof schema !== 'object' || schema === null) return;
    if (Reflect.get(schema, 'writeOnly') === true) found.add(key);
    for (const [word, child] of Object.entries(schema)) {
      if (word === 'properties') for (const [name, own] of Object.entries(child)) look(own, name);
      else look(child, key);
    }
  };
  look(configJsonSchema(), '');
  return found;
}
