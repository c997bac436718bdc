import * as z from 'zod';
import type { Balance } from '../domain/reading.ts';
import { firstBalance, type Rule } from '../domain/rule.ts';
import type { Severity } from '../domain/severity.ts';
import { shape } from '../schema/shapes.ts';
import { listWords } from '../wording/lists.ts';
import { commonKeys, type InputOf } from './common-keys.ts';
import type { RuleKind } from './kind.ts';
import { ruleKinds } from './registry.ts';

const [first, ...others] = ruleKinds;

/** Each kind takes only its own keys. */
export const ruleSchema = z.discriminatedUnion('type', [schemaOf(first), ...others.map(schemaOf)], {
  error: (issue) =>
    issue.code === 'invalid_union'
      ? `must be ${listWords(ruleKinds.map(({ type }) => type))}`
      : 'must be an object in braces',
});

export function plainRule(kind: RuleKind, id: string): Rule {
  return ruleSchema.parse({ id, type: kind.type });
}

function schemaOf(kind: RuleKind) {
  const typeKey = z.literal(kind.type).meta({ description: kind.summary });
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

/** A key of another kind deserves a better error than "unknown". */
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
