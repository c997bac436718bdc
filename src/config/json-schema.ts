import * as z from 'zod';
import { describeProvider } from '../providers/describe-provider.ts';
import { providerKinds } from '../providers/registry.ts';
import { listsInFiles } from './include-files.ts';
import { configSchema } from './schema/config.ts';

/** The schema for editors. It accepts a string with a placeholder as a number, a flag or one of certain words. */
export function configJsonSchema(options: { readonly reused?: 'ref' } = {}): z.core.JSONSchema.BaseSchema {
  const schema = z.toJSONSchema(configSchema, {
    ...options,
    io: 'input',
    override: ({ zodSchema, jsonSchema, path }) => {
      const inFiles = listsInFiles.find((key) => configSchema.shape[key] === zodSchema);
      if (inFiles !== undefined) allowFiles(jsonSchema, inFiles);
      const { type } = zodSchema._zod.def;
      if (replaceable.has(type) && (type === 'enum' || path.at(-2) !== 'anyOf'))
        allowAlso(jsonSchema, placeholder);
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

/** Allows an object with `files`, which the lists of those files replace before the schema is applied. */
function allowFiles(jsonSchema: z.core.JSONSchema.BaseSchema, key: string): void {
  const description = `Files next to this one that each hold a list of ${key}, such as "${key}.d/*.json", in the order of their names; a * stands in the name of the file only.`;
  const properties = { files: { type: 'string', description } } as const;
  allowAlso(jsonSchema, { type: 'object', properties, required: ['files'], additionalProperties: false });
}

/** Adds an alternative once: zod visits a schema again for each layer around it. */
function allowAlso(jsonSchema: z.core.JSONSchema.BaseSchema, other: z.core.JSONSchema.BaseSchema): void {
  if (jsonSchema.anyOf !== undefined) return;
  const { description, default: fallback, ...own } = jsonSchema;
  for (const key of Object.keys(own)) delete jsonSchema[key];
  jsonSchema.anyOf = [own, { ...other }];
}

/** `configJsonSchema` for editors: repeated parts are shared, and credentials are completed. */
export function editorJsonSchema(): object {
  const { $defs: all = {}, ...schema } = configJsonSchema({ reused: 'ref' });
  const $defs: Record<string, unknown> = {};
  const share = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(share);
    if (typeof part !== 'object' || part === null) return part;
    const { $ref, ...own }: { $ref?: unknown } = part;
    const name = typeof $ref === 'string' ? $ref.replace('#/$defs/', '') : '';
    const target = all[name];
    if (target === undefined)
      return Object.fromEntries(Object.entries(part).map(([key, child]) => [key, share(child)]));
    // Some readers of JSON Schema ignore keys next to a reference.
    const isShort = JSON.stringify(target).length < minSharedLength;
    if (isShort || Object.keys(own).length > 0) return share({ ...Object(target), ...own });
    if (!Object.hasOwn($defs, name)) {
      $defs[name] = true;
      $defs[name] = share(target);
    }
    return part;
  };
  const { properties, ...rest } = Object(share(schema));
  return {
    ...rest,
    properties: { ...properties, accounts: completeCredentials(properties.accounts) },
    $defs,
  };
}

/** Shorter parts are, as text, hardly longer than a reference. */
const minSharedLength = 100;

/** The credentials that an account's provider asks for, if the account's entry has the name of its type. */
function completeCredentials({ anyOf = [], ...rest }: z.core.JSONSchema.BaseSchema): object {
  const [list, ...others] = anyOf.map(Object);
  const asking = providerKinds.map(describeProvider).filter(({ details }) => details !== null);
  const allOf = asking.map(({ type, credentials }) => {
    const properties = Object.fromEntries(
      credentials.map(({ name, label }) => [name, { description: label }]),
    );
    return {
      if: { properties: { provider: { const: type } }, required: ['provider'] },
      // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema.
      then: { properties: { credentials: { properties } } },
    };
  });
  return { ...rest, anyOf: [{ ...list, items: { ...list.items, allOf } }, ...others] };
}

let secretKeys: ReadonlySet<string> | null = null;

/** The keys that hold a secret in the schemas, or have one right below. Computed once, because the schemas do not change. */
export function listSecretKeys(): ReadonlySet<string> {
  secretKeys ??= findSecretKeys();
  return secretKeys;
}

function findSecretKeys(): ReadonlySet<string> {
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
