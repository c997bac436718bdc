import * as z from 'zod';
import { balances } from '../../domain/reading.ts';
import type { RuleType } from '../../domain/rule.ts';
import { severities } from '../../domain/severity.ts';
import { accountMatch } from '../../schema/matchers.ts';
import { choice, shape } from '../../schema/shapes.ts';
import { amount, amountOrShare, duration, id } from '../../schema/texts.ts';
import { listWords } from '../../wording/lists.ts';

const secondMs = 1000;

const base = {
  id: id('Names the rule in messages, silences and the API. Unique.'),
  for: duration('How long a breach must last before the alert fires.').prefault('0s'),
  recoverFor: duration('How long a recovery must last before the alert resolves.').prefault('0s'),
  match: accountMatch.optional(),
};

const money = {
  ...base,
  balance: choice('Which balance the rule watches.', balances).default('sms'),
};

const severity = choice('How bad it is when the rule fires.', severities);

const hysteresis = (description: string) =>
  amountOrShare(description, { sign: 'not-negative', maxPercent: 1000 }).prefault(0);

const below = {
  ...money,
  severity: severity.optional(),
  threshold: amount('The balance under which the rule fires, with `severity`.').optional(),
  thresholds: ladder(
    'Balance by severity: one alert whose severity moves. Use it instead of `threshold` and `severity`.',
    (word) => amount(`Under this balance the alert is ${word}.`),
  ).optional(),
  hysteresis: hysteresis(
    'How far past the threshold the balance must rise before the alert resolves: an amount, or a percentage of the threshold.',
  ),
};

const negative = {
  ...money,
  severity: severity.default('critical'),
  hysteresis: amount('How far above zero the balance must rise before the alert resolves.', {
    sign: 'not-negative',
  }).prefault(0),
};

const runway = {
  ...money,
  severity: severity.optional(),
  within: duration('Fires when the balance lasts less than this, with `severity`.', {
    minMs: secondMs,
  }).optional(),
  thresholds: ladder(
    'Runway by severity: one alert whose severity moves. Use it instead of `within` and `severity`.',
    (word) => duration(`With less runway than this the alert is ${word}.`, { minMs: secondMs }),
  ).optional(),
  floor: amount('The balance that counts as empty.').prefault(0),
  lookback: duration('How far back spending is measured.', { minMs: secondMs }).prefault('24h'),
  minimumHistory: duration('The rule gives no verdict on less history than this. Default: 1h.').optional(),
};

const drop = {
  ...money,
  severity: severity.default('warning'),
  by: amountOrShare(
    'Fires when more than this is spent: an amount, or a percentage of the balance at the start.',
    {
      sign: 'positive',
      maxPercent: 100,
    },
  ),
  window: duration('The time within which it is spent.', { minMs: secondMs }),
};

const idle = {
  ...money,
  severity: severity.default('warning'),
  window: duration('Fires when nothing was spent for this long.', { minMs: secondMs }),
};

const topUp = {
  ...money,
  severity: severity.default('info'),
  atLeast: amount('Smaller rises are not told.', { sign: 'positive' }).prefault('0.01'),
};

const currency = { ...base, severity: severity.default('critical') };

const stale = {
  ...base,
  severity: severity.default('warning'),
  after: duration(
    'Fires when the balance could not be read for this long. Default: the time of three polls, at least 2m.',
    { minMs: secondMs },
  ).optional(),
};

const authFailed = { ...base, severity: severity.default('critical') };

const keysByType: Readonly<Record<RuleType, object>> = {
  below,
  negative,
  runway,
  drop,
  idle,
  'top-up': topUp,
  currency,
  stale,
  'auth-failed': authFailed,
};

const ruleTypes = Object.keys(keysByType);

/** One rule as it stands in the file. Each type takes its own keys only. */
export const ruleSchema = z.discriminatedUnion(
  'type',
  [
    ruleShape('below', 'A balance under a threshold, or under several by severity.', below),
    ruleShape('negative', 'A balance below zero.', negative),
    ruleShape('runway', 'A balance that will not last.', runway),
    ruleShape('drop', 'Spending that is faster than expected.', drop),
    ruleShape('idle', 'No spending: perhaps nothing is sent any more.', idle),
    ruleShape('top-up', 'A message when the balance rises. No incident.', topUp),
    ruleShape('currency', "A currency that is not the account's.", currency),
    ruleShape('stale', 'An account that cannot be read.', stale),
    ruleShape('auth-failed', 'A key that the provider does not accept.', authFailed),
  ],
  {
    error: (issue) =>
      issue.code === 'invalid_union' ? `must be ${listWords(ruleTypes)}` : 'must be an object in braces',
  },
);

export type RuleInput = z.output<typeof ruleSchema>;

function ruleShape<const T extends RuleType, S extends z.core.$ZodLooseShape>(
  type: T,
  description: string,
  keys: S,
) {
  const typeKey = z.literal(type).meta({ description });
  return shape({ type: typeKey, ...keys }, hintsFor(type, Object.keys(keys)));
}

/** A key of another rule type deserves a better word than "unknown". */
function hintsFor(type: RuleType, own: readonly string[]): Record<string, string> {
  const hints: Record<string, string> = {};
  const foreign = Object.values(keysByType).flatMap((keys) => Object.keys(keys));
  for (const key of foreign) {
    if (own.includes(key)) continue;
    const takers = Object.entries(keysByType).filter(([, keys]) => Object.hasOwn(keys, key));
    hints[key] =
      `a rule of type ${type} does not take this key; ${takers.map(([name]) => name).join(', ')} does`;
  }
  return hints;
}

function ladder<T extends z.ZodType>(description: string, step: (word: string) => T) {
  return shape({
    info: step('info').optional(),
    warning: step('warning').optional(),
    critical: step('critical').optional(),
  }).meta({ description, minProperties: 1 });
}
