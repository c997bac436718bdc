import type * as z from 'zod';
import { severities } from '../domain/severity.ts';
import { accountMatch } from '../schema/matchers.ts';
import { choice } from '../schema/shapes.ts';
import { duration, id } from '../schema/texts.ts';

export const commonKeys = {
  id: id('Names the rule in messages, silences and the API. Unique.'),
  for: duration('How long a breach must last before the alert fires.').prefault('0s'),
  recoverFor: duration('How long a recovery must last before the alert resolves.').prefault('0s'),
  match: accountMatch.optional(),
};

export const moneyKeys = {
  balance: id(
    'Which balance of the account the rule watches, such as "sms". Default: the first of its provider.',
  ).optional(),
};

export const severityKey = choice('How bad it is when the rule fires.', severities);

/** Of a rule that may have thresholds by severity. */
export const ladderSeverityKey = choice(
  'How bad it is when the rule fires; not with `thresholds`. Default: "warning".',
  severities,
).optional();

export type InputOf<S extends z.core.$ZodLooseShape> = z.output<z.ZodObject<S, z.core.$strict>>;
