import * as z from 'zod';
import { currencyCode } from '../domain/money.ts';
import { labelNamePattern, matchesEverything } from '../domain/rule.ts';
import { severities } from '../domain/severity.ts';
import { listWords } from '../wording/lists.ts';
import { saying, shape } from './shapes.ts';

const oneOrMore = 'must be a string, or a list of at least one';
const texts = z.array(z.string({ error: oneOrMore }), { error: oneOrMore }).min(1, { error: oneOrMore });

function names(description: string) {
  return z.union([z.string(), texts], { error: oneOrMore }).transform(asList).describe(description);
}

const severityForm = `must be ${listWords(severities)}, or a list of them`;
const severityWord = z.enum(severities, { error: severityForm });
const severityWords = z.union(
  [severityWord, z.array(severityWord, { error: severityForm }).min(1, { error: severityForm })],
  { error: severityForm },
);

function asList<T extends string>(value: T | T[]): readonly T[] {
  return typeof value === 'string' ? [value] : value;
}

const labelNameForm =
  'must be a name of 1 to 63 letters, digits, underscores, dots and hyphens that starts with a letter, digit or underscore';

/**
 * Labels by name, with values of the given schema: those of an account, or those that a match asks for. A record of zod silently drops the
 * key `__proto__`, and a match that lost a key would match more than was asked for.
 */
export function labelRecord<T extends z.ZodType>(value: T) {
  const record = z.record(z.string().regex(labelNamePattern), value, {
    error: (issue) => (issue.code === 'invalid_key' ? labelNameForm : 'must be an object of labels'),
  });
  return z.preprocess((input, context) => {
    if (typeof input === 'object' && input !== null && Object.hasOwn(input, '__proto__'))
      context.addIssue({ code: 'custom', path: ['__proto__'], message: 'no label can have this name' });
    return input;
  }, record);
}

const labels = labelRecord(z.union([z.string(), texts], { error: oneOrMore }).transform(asList)).describe(
  'Labels that the account must have; a value or a list of values for each.',
);

const accountKeys = {
  account: names('Ids of accounts.').exactOptional(),
  provider: names(
    'Entries of `providers` that accounts are read from; `provider` is the default one.',
  ).exactOptional(),
  currency: names('Currencies that accounts are configured in; compared without case, and RMB is CNY.')
    .transform((codes) => codes.map(currencyCode))
    .exactOptional(),
  labels: labels.exactOptional(),
};

/** A match by these keys; the same keys under `not` leave alerts or accounts out. */
function matchShape<S extends z.core.$ZodLooseShape>(keys: S, hints: Readonly<Record<string, string>> = {}) {
  const not = saying(shape(keys, hints), {
    saysNothing: matchesEverything,
    error: 'must name what is left out',
  }).describe(
    'What is left out: all given keys must match for that. An alert about no account has no labels.',
  );
  return shape({ ...keys, not: not.exactOptional() }, hints);
}

export const accountMatch = matchShape(accountKeys, {
  rule: 'a rule matches accounts: by account, provider, currency and labels only',
  severity: 'a rule matches accounts: by account, provider, currency and labels only',
}).describe('Which accounts this rule watches. All given keys must match. Default: all.');

/** The alerts that a route or a silence is about. `ownRules` are the names of alerts that lowwater raises by itself. */
export function alertMatch(description: string, ownRules: readonly string[]) {
  return matchShape({
    ...accountKeys,
    account: names(
      'Ids of accounts; `@lowwater` for lowwater’s own failures, `@provider:api.example.com`, or `@provider:NAME` of an entry under `providers`, for an outage of it.',
    ).exactOptional(),
    rule: names(
      `Ids of rules, built-in ones included; ${ownRules.map((name) => `\`${name}\``).join(', ')}.`,
    ).exactOptional(),
    severity: severityWords.transform(asList).describe('Severities.').exactOptional(),
  }).describe(description);
}
