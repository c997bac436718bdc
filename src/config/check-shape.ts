import type * as z from 'zod';
import type { ConfigProblem } from './config-problem.ts';
import { type Draft, problemAt, replaceAt, textAt, valueAt } from './draft.ts';
import { type ConfigInput, configSchema } from './schema/config.ts';

/** A file is read once a process: a parser compiled for it would cost more than it saves. */
const once = { jitless: true } as const;

/** Holds the draft against the schema: types, unknown keys, and everything that one value can tell about itself. */
export function checkShape(draft: Draft): {
  readonly config: ConfigInput | null;
  readonly problems: readonly ConfigProblem[];
} {
  const first = configSchema.safeParse(draft.value, once);
  if (first.success) return { config: first.data, problems: [] };
  const coerced = first.error.issues.filter((issue) => coerce(draft, issue)).length > 0;
  const result = coerced ? configSchema.safeParse(draft.value, once) : first;
  if (result.success) return { config: result.data, problems: [] };
  return { config: null, problems: result.error.issues.flatMap((issue) => describeIssue(draft, issue)) };
}

/** A string that was one placeholder may stand for a number or a flag; any other string may not. */
function coerce(draft: Draft, issue: z.core.$ZodIssue): boolean {
  if (issue.code !== 'invalid_type') return false;
  const path = plainPath(issue.path);
  const text = textAt(draft, path);
  if (text === null || !draft.isWhole(path)) return false;
  if (issue.expected === 'boolean' && (text === 'true' || text === 'false')) {
    replaceAt(draft, path, text === 'true');
    return true;
  }
  if (issue.expected === 'number' && /^-?\d+(\.\d+)?$/.test(text)) {
    replaceAt(draft, path, Number(text));
    return true;
  }
  return false;
}

function describeIssue(draft: Draft, issue: z.core.$ZodIssue): ConfigProblem[] {
  const path = plainPath(issue.path);
  if (draft.isBroken(path)) return [];
  if (issue.code === 'unrecognized_keys') {
    const messages = issue.message.split('\n');
    return issue.keys.map((key, index) => problemAt(draft, [...path, key], messages[index] ?? 'unknown key'));
  }
  const isMissing = path.length > 0 && valueAt(draft, path) === undefined;
  return [problemAt(draft, path, isMissing ? `is missing; ${issue.message}` : issue.message)];
}

/** JSON has no symbols for keys. */
function plainPath(path: readonly PropertyKey[]): (string | number)[] {
  return path.map((step) => (typeof step === 'symbol' ? String(step) : step));
}
