import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { presets } from '../src/channels/registry.ts';
import { configJsonSchema } from '../src/config/json-schema.ts';
import { writtenKeys } from './channel-reference.ts';

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

const example: Readonly<Record<string, unknown>> = JSON.parse(
  readFileSync(join(import.meta.dirname, '../config.example.json'), 'utf8'),
);

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
  const sections = rows.flatMap(({ key, rows: [, ...rest] }) => {
    const kinds = writeKinds(key, schema.properties?.[key] ?? {});
    return rest.length + kinds.length === 0 ? [] : [formatSection(key, rest), ...kinds];
  });
  return `${introduction}\n${[top, ...sections].join('\n')}`;
}

const introduction = `# Configuration reference

One JSON file; comments and trailing commas are accepted. This page is made from the schema that checks it (\`npm run reference\`), and a test keeps it current; the README
explains the ideas behind it.

- Any string may hold \`\${env:NAME}\`, \`\${env:NAME:-default}\` or \`\${file:/path}\`; \`$\${\` stands for \`\${\`.
- Durations are written \`90s\`, \`5m\`, \`1h30m\`, \`2d\`. Amounts are numbers of at most six decimals, or strings if every digit counts: \`"50.00"\`.
- \`[]\` marks the entries of a list, \`<name>\` a name that you choose.
- Default \`–\`: nothing, unless a key below it has one.
- Each type of rule, channel and provider has a section of its own, with an example. [providers.md](providers.md) describes the presets of providers.
`;

function formatSection(title: string, rows: readonly Row[]): string {
  return `## ${title}\n\n${rows.length === 0 ? 'Each by its `type`.' : formatTable(rows)}\n`;
}

function formatTable(rows: readonly Row[]): string {
  const lines = rows.map(({ path, form, ...row }) => {
    const { fallback, description } = moveDefault(row);
    return `| \`${path}\` | ${form} | ${escapeCell(fallback)} | ${escapeCell(description)} |`;
  });
  return ['| key | form | default | meaning |', '| --- | --- | --- | --- |', ...lines].join('\n');
}

/** What is worked out where a key is absent stands in its description: `Default: the id.` */
function moveDefault({
  fallback,
  description,
}: Pick<Row, 'fallback' | 'description'>): Pick<Row, 'fallback' | 'description'> {
  const [sentence, said] = /\s?\bDefault:? (.+?)\.(?=\s|$)/.exec(description) ?? [];
  if (sentence === undefined || said === undefined || fallback === required) return { fallback, description };
  const left = description.replace(sentence, '').trim();
  return {
    fallback: fallback === nothing ? said.replace(/^"(.*)"$/, '`"$1"`') : fallback,
    description: left,
  };
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
  if (plain.oneOf !== undefined) return [own, ...collectShared(path, plain.oneOf)];
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

/** Keys that all kinds of rules, channels or providers have in common; each kind has a section for its own. */
function collectShared(path: string, kinds: readonly Schema[]): Row[] {
  const shared = listShared(kinds);
  return collectProperties(
    path,
    pickProperties(kinds[0] ?? {}, (key) => shared.includes(key)),
  );
}

function listShared(kinds: readonly Schema[]): readonly string[] {
  const texts = kinds.map(
    (kind) => new Map(Object.entries(kind.properties ?? {}).map(([key, it]) => [key, JSON.stringify(it)])),
  );
  return Object.keys(kinds[0]?.properties ?? {}).filter((key) =>
    texts.every((text) => text.get(key) === texts[0]?.get(key)),
  );
}

/** A section for each kind that stands at a key of the file: what it is, its own keys, and how it is written. */
function writeKinds(section: string, schema: Schema): readonly string[] {
  const entry = withoutPlaceholder(schema);
  const kinds = [entry, ...(entry.anyOf ?? [])].flatMap(({ items, additionalProperties: inner = items }) =>
    typeof inner === 'object' ? (withoutPlaceholder(inner).oneOf ?? []) : [],
  );
  if (kinds.length === 0) return [];
  const shared = listShared(kinds);
  return kinds.map((kind) => {
    const { const: type, description = '' } = kind.properties?.type ?? {};
    const own = pickProperties(kind, (key) => key !== 'type' && !shared.includes(key));
    const rows = collectProperties('', own).map((row) => ({ ...row, path: row.path.slice(1) }));
    const example = findExample(section, String(type));
    return [
      `### ${section}: ${type === undefined ? 'presets' : String(type)}`,
      '',
      description,
      '',
      ...(rows.length === 0 ? ['No keys of its own.', ''] : [formatTable(rows), '']),
      ...(example === null ? [] : ['```json', example, '```', '']),
    ].join('\n');
  });
}

/** How `config.example.json` writes it, or what a preset says of itself. */
function findExample(section: string, type: string): string | null {
  const preset = section === 'channels' && presets.find((each) => each.type === type);
  if (preset) return `"ops": ${JSON.stringify(writtenKeys(preset), null, 2)}`;
  const entries = Object.entries(Object(example[section]));
  const found = entries.find(([, entry]) => Object(entry).type === type);
  if (found === undefined) return null;
  const [name, entry] = found;
  return `${Array.isArray(example[section]) ? '' : `"${name}": `}${JSON.stringify(entry, null, 2)}`;
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

const required = 'required';
const nothing = '–';

function describeDefault(schema: Schema, plain: Schema, isRequired: boolean): string {
  const fallback = schema.default ?? plain.default;
  if (fallback === undefined) return isRequired ? required : nothing;
  const text = JSON.stringify(fallback);
  return text === '{}' || text === '[]' ? nothing : `\`${text}\``;
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}

if (import.meta.main) writeFileSync(referenceFile, writeReference());
