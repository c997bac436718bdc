import * as z from 'zod';
import { getOrMake } from '../domain/get-or-make.ts';
import { keyOf } from '../domain/json.ts';
import type { Balance, BalanceDefinition } from '../domain/reading.ts';
import { firstBalance, type Rule } from '../domain/rule.ts';
import type { Severity } from '../domain/severity.ts';
import { once, shape } from '../schema/shapes.ts';
import { listWords } from '../wording/lists.ts';
import { sentences } from '../wording/phrase.ts';
import { commonKeys, type InputOf, type RuleKind } from './kind.ts';
import { kindOfRuleNamed, ruleKinds } from './registry.ts';

const [first, ...others] = ruleKinds;

/** Each kind takes only its own keys. */
export const ruleSchema = z.discriminatedUnion('type', [schemaOf(first), ...others.map(schemaOf)], {
  error: (issue) =>
    issue.code === 'invalid_union'
      ? `must be ${listWords(ruleKinds.map(({ type }) => type))}`
      : 'must be an object in braces',
});

export function plainRule(kind: RuleKind, id: string): Rule {
  return ruleSchema.parse({ id, type: kind.type }, once);
}

function schemaOf(kind: RuleKind) {
  const typeKey = z.literal(kind.type).describe(kind.summary);
  return shape({ type: typeKey, ...commonKeys, ...kind.keys }, hintsFor(kind)).transform((input): Rule => {
    const common = commonOf(kind, input);
    return { ...common, ...kind.build?.(input, common.severity) };
  });
}

interface CommonInput extends InputOf<typeof commonKeys> {
  readonly severity?: Severity | undefined;
  readonly balance?: Balance | undefined;
}

function commonOf({ type, keys }: RuleKind, input: CommonInput): Rule {
  return {
    id: input.id,
    type,
    severity: input.severity ?? 'warning',
    forMs: input.for,
    recoverForMs: input.recoverFor,
    match: input.match ?? {},
    builtIn: false,
    balance: input.balance ?? (Object.hasOwn(keys, 'balance') ? firstBalance : null),
  };
}

/** A key of another kind gets a better error than "unknown". */
function hintsFor({ keys }: RuleKind): Record<string, string> {
  const hints: Record<string, string> = {};
  const foreign = ruleKinds.flatMap((kind) => Object.keys(kind.keys));
  for (const key of foreign) {
    if (Object.hasOwn(keys, key)) continue;
    const takers = ruleKinds.filter((kind) => Object.hasOwn(kind.keys, key)).map((kind) => kind.type);
    hints[key] = `is not valid here; only for ${takers.join(' and ')}`;
  }
  return hints;
}

/** A rule of the file, parsed, or its problems with their places. */
export type WrittenRule =
  | { readonly kind: 'rule'; readonly rule: Rule }
  | {
      readonly kind: 'invalid';
      readonly problems: readonly { readonly path: string; readonly message: string }[];
    };

export function readWrittenRule(written: unknown): WrittenRule {
  const parsed = ruleSchema.safeParse(written);
  const type = keyOf(written, 'type');
  const kind = typeof type === 'string' ? kindOfRuleNamed(type) : null;
  const problems = [
    ...(parsed.error?.issues ?? []),
    ...(kind?.check?.({ valueAt: (path) => path.reduce(keyOf, written), isBroken: () => false }) ?? []),
  ].map(({ path, message }) => ({ path: path.join('.'), message }));
  return parsed.success && problems.length === 0
    ? { kind: 'rule', rule: parsed.data }
    : { kind: 'invalid', problems };
}

/** A value of a rule that a person may edit. */
export type RuleField = ReturnType<typeof ruleFields>[number];

/** The keys of a rule, on an account with these balances, that decide when it fires, in the order of the reference: not its id, type and match. */
export function ruleFields(kind: RuleKind, written: unknown, balances: readonly BalanceDefinition[]) {
  return settingsOf(kind).map(({ path, schema }) => {
    const value = path.reduce(keyOf, written);
    return {
      /** Such as `thresholds.critical`. */
      path: path.join('.'),
      description: schema.description ?? '',
      /** Empty when the file has none. */
      value: value === undefined ? '' : String(value),
      /** The allowed words, if only some are. */
      words: path[0] === 'balance' ? balances.map(({ id }) => id) : (schema.enum ?? []).map(String),
    };
  });
}

/** The rule with other values by path; an empty value removes the key. */
export function writeRule(
  kind: RuleKind,
  written: unknown,
  values: ReadonlyMap<string, string>,
): Record<string, unknown> {
  const rule: Record<string, unknown> = { id: keyOf(written, 'id'), type: kind.type };
  for (const { path, schema } of settingsOf(kind)) {
    const text = values.get(path.join('.'))?.trim() ?? '';
    if (text === '') continue;
    const [key = '', inner] = path;
    const value = asWritten(text, schema);
    rule[key] = inner === undefined ? value : { ...Object(rule[key]), [inner]: value };
  }
  const editable = new Set(settingsOf(kind).map(({ path }) => path[0]));
  const kept = Object.entries(Object(written)).filter(([key]) => !editable.has(key));
  return { ...Object.fromEntries(kept), ...rule };
}

let areMeaningsDeclared = false;

/** Declares the meanings of all kinds' keys, which stand in the schema, as sentences for a page. Each is declared once, when somebody first asks. */
export function declareKeyMeanings(): void {
  if (areMeaningsDeclared) return;
  areMeaningsDeclared = true;
  const names = new Map<string, string>();
  for (const kind of ruleKinds)
    for (const { path, schema } of settingsOf(kind))
      getOrMake(names, schema.description ?? '', () => [kind.type, ...path].join('.'));
  sentences('ruleKey', Object.fromEntries([...names].map(([meaning, name]) => [name, meaning])));
}

interface Setting {
  readonly path: readonly string[];
  readonly schema: z.core.JSONSchema.BaseSchema;
}

function settingsOf(kind: RuleKind): readonly Setting[] {
  const { id: _, match: __, ...common } = commonKeys;
  return Object.entries({ ...kind.keys, ...common }).flatMap(([key, type]) => {
    const schema = z.toJSONSchema(type, { io: 'input', unrepresentable: 'any' });
    const inner = Object.entries(schema.properties ?? {});
    if (inner.length === 0) return schema.type === 'object' ? [] : [{ path: [key], schema }];
    return inner.flatMap(([name, schema]) =>
      typeof schema === 'boolean' ? [] : [{ path: [key, name], schema }],
    );
  });
}

/** A number if the schema allows one, else text. */
function asWritten(text: string, schema: z.core.JSONSchema.BaseSchema): string | number {
  return takesNumber(schema) && String(Number(text)) === text ? Number(text) : text;
}

function takesNumber({ type, anyOf = [] }: z.core.JSONSchema.BaseSchema): boolean {
  return (
    type === 'number' || type === 'integer' || anyOf.some((it) => typeof it !== 'boolean' && takesNumber(it))
  );
}
