import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configJsonSchema } from '../src/config/json-schema.ts';

/** The part of JSON Schema that the schema of the configuration uses. */
interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly pattern?: string;
}

interface Row {
  readonly path: string;
  readonly form: string;
  readonly fallback: string;
  readonly description: string;
}

/** Where `docs/configuration.md` is. */
export const referenceFile = join(import.meta.dirname, '../docs/configuration.md');

/** The reference of every key, made from the schema that checks the file. */
export function writeReference(): string {
  const schema = configJsonSchema() as Schema;
  const keys = Object.entries(schema.properties ?? {});
  const rows = keys.map(([key, value]) => ({
    key,
    rows: collectRows(key, value, schema.required?.includes(key) ?? false),
  }));
  const top = formatSection(
    'The top of the file',
    rows.flatMap(({ rows: [first] }) => (first === undefined ? [] : [first])),
  );
  const sections = rows
    .filter((section) => section.rows.length > 1)
    .map(({ key, rows: [, ...rest] }) => formatSection(key, rest));
  return `${introduction}\n${[top, ...sections].join('\n')}`;
}

const introduction = `# Configuration reference

One JSON file; comments and trailing commas are accepted. This page is made from the schema that checks it (\`npm run reference\`), and a test keeps it current; the README
explains the ideas behind it.

- Any string may hold \`\${env:NAME}\`, \`\${env:NAME:-default}\` or \`\${file:/path}\`; \`$\${\` stands for \`\${\`.
- Durations are written \`90s\`, \`5m\`, \`1h30m\`, \`2d\`. Amounts are numbers of at most six decimals, or strings where every digit counts: \`"50.00"\`.
- \`[]\` marks the entries of a list, \`<name>\` a name that you choose. Required keys have no default.
`;

function formatSection(title: string, rows: readonly Row[]): string {
  const lines = rows.map(
    ({ path, form, fallback, description }) =>
      `| \`${path}\` | ${form} | ${fallback} | ${escapeCell(description)} |`,
  );
  return [
    `## ${title}`,
    '',
    '| key | form | default | meaning |',
    '| --- | --- | --- | --- |',
    ...lines,
    '',
  ].join('\n');
}

function collectRows(path: string, schema: Schema, required: boolean): Row[] {
  const plain = withoutPlaceholder(schema);
  const own: Row = {
    path,
    form: describeForm(plain),
    fallback: describeDefault(schema, plain, required),
    description: schema.description ?? '',
  };
  if (plain.anyOf !== undefined)
    return [own, ...plain.anyOf.flatMap((choice) => collectRows(path, choice, true).slice(1))];
  if (plain.oneOf !== undefined) return [own, ...collectKinds(path, plain.oneOf)];
  if (plain.items !== undefined) {
    const entry = withoutPlaceholder(plain.items);
    const nested = entry.properties !== undefined || entry.oneOf !== undefined;
    return nested ? [own, ...collectRows(`${path}[]`, plain.items, true).slice(1)] : [own];
  }
  if (plain.properties !== undefined) return [own, ...collectProperties(path, plain)];
  if (typeof plain.additionalProperties === 'object') {
    return [own, ...collectRows(`${path}.<name>`, plain.additionalProperties, true).slice(1)];
  }
  return [own];
}

/**
 * Kinds of rules or channels: keys that all of them have in common come once, the others under the type that
 * takes them.
 */
function collectKinds(path: string, kinds: readonly Schema[]): Row[] {
  const texts = kinds.map(
    (kind) => new Map(Object.entries(kind.properties ?? {}).map(([key, it]) => [key, JSON.stringify(it)])),
  );
  const common = Object.keys(kinds[0]?.properties ?? {}).filter((key) =>
    texts.every((text) => text.get(key) === texts[0]?.get(key)),
  );
  const shared = pickProperties(kinds[0] ?? {}, (key) => common.includes(key));
  return [...collectProperties(path, shared), ...kinds.flatMap((kind) => collectKind(path, kind, common))];
}

function collectKind(path: string, kind: Schema, common: readonly string[]): Row[] {
  const type = kind.properties?.type;
  const form = `\`${JSON.stringify(type?.const)}\``;
  const title: Row = {
    path: `${path}.type`,
    form,
    fallback: '',
    description: `**${type?.description ?? ''}**`,
  };
  return [
    title,
    ...collectProperties(
      path,
      pickProperties(kind, (key) => key !== 'type' && !common.includes(key)),
    ),
  ];
}

function pickProperties(schema: Schema, wanted: (key: string) => boolean): Schema {
  const properties = Object.entries(schema.properties ?? {}).filter(([key]) => wanted(key));
  return { ...schema, properties: Object.fromEntries(properties) };
}

function collectProperties(path: string, schema: Schema): Row[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, value]) =>
    collectRows(`${path}.${key}`, value, schema.required?.includes(key) ?? false),
  );
}

/**
 * A number, a flag or a word may also come from a placeholder; so may null stand for nothing. Neither is
 * worth a word here.
 */
function withoutPlaceholder(schema: Schema): Schema {
  const choices = (schema.anyOf ?? []).filter(({ type, pattern }) => pattern !== '\\$\\{' && type !== 'null');
  const [only] = choices;
  if (choices.length !== 1 || only === undefined) return schema;
  const { anyOf: _choices, ...own } = schema;
  return { ...own, ...withoutPlaceholder(only) };
}

function describeForm(schema: Schema): string {
  if (schema.enum !== undefined) return schema.enum.map((word) => `\`${word}\``).join(', ');
  if (schema.anyOf !== undefined)
    return [...new Set(schema.anyOf.map(withoutPlaceholder).map(describeForm))].join(' or ');
  if (schema.oneOf !== undefined) return 'object, by its `type`';
  if (schema.type === 'array') return 'list';
  if (schema.pattern?.includes('(\\d+ms)') === true) return 'duration';
  return schema.type ?? 'any';
}

function describeDefault(schema: Schema, plain: Schema, required: boolean): string {
  const fallback = schema.default ?? plain.default;
  if (fallback === undefined) return required ? '' : 'none';
  const text = JSON.stringify(fallback);
  return text === '{}' || text === '[]' ? 'none' : `\`${text}\``;
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}

if (import.meta.main) writeFileSync(referenceFile, writeReference());
