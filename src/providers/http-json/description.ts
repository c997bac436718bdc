import * as z from 'zod';
import { isUnit } from '../../domain/money.ts';
import { secondMs } from '../../domain/time.ts';
import { choice, filledList, flag, shape, wholeNumber } from '../../schema/shapes.ts';
import { duration, id, oneLine, textLeaf } from '../../schema/texts.ts';
import { type Decimal, parseDecimal } from './decimal.ts';
import { type Path, parsePath } from './json-path.ts';
import { parsePattern } from './pattern.ts';
import { requestShape } from './request-description.ts';
import { signSchema } from './sign.ts';

function path(description: string) {
  return textLeaf<Path>({
    description,
    allowed:
      'must be a JSONPath (RFC 9535) such as "$.data.balance" or "$.items[?@.currency==\'EUR\'].total"',
    pattern: '^\\$',
    read: (text) => {
      const value = parsePath(text);
      return value === null || 'wrong' in value ? value : { value };
    },
  });
}

const pattern = textLeaf<RegExp>({
  description:
    'A regular expression with one group that is the part to read, such as "^KES (-?[0-9.]+)$". Tried on texts of up to 64 characters.',
  allowed: 'must be a regular expression with one group',
  read: (text) => {
    const value = parsePattern(text);
    return value instanceof RegExp ? { value } : value;
  },
});

const scale = textLeaf<Decimal>({
  description:
    'What the amount is multiplied by, a decimal such as "0.01"; "-1" where the answer counts what is owed.',
  allowed: 'must be a decimal in a string such as "0.01", not 0',
  pattern: '^-?\\d+(\\.\\d+)?$',
  read: (text) => {
    const value = /[eE]/.test(text) ? null : parseDecimal(text);
    return value === null || value.units === 0n ? null : { value };
  },
});

function separator(description: string) {
  return textLeaf({
    description,
    allowed: 'must be one character that is no digit, sign or letter',
    read: (text) => (/^[^\d\p{L}+-]$/u.test(text) ? { value: text } : null),
  });
}

const amountKeys = {
  amount: path('Where the amount stands: a number, or a text that is one.'),
  sum: flag('The path may have several results, which are added up.').default(false),
  plus: path('Where an amount stands that is added.').optional(),
  minus: path('Where an amount stands that is subtracted, such as the usage of a credit.').optional(),
  scale: scale.optional(),
  pattern: pattern.optional(),
  decimal: separator('The decimal separator in a text, such as ",".').default('.'),
  thousands: separator('The thousands separator in a text, such as ".".').optional(),
};

/** With equal separators, `1.250` would be read as one and a quarter. */
const separatorsDiffer: [(how: { decimal: string; thousands?: string | undefined }) => boolean, object] = [
  ({ decimal, thousands }) => decimal !== thousands,
  { path: ['thousands'], error: 'is the decimal separator too: give "decimal" another, such as ","' },
];

const balanceShape = shape({
  id: id('Name of the balance in rules, API and metrics.'),
  label: oneLine('Name of the balance for people.').optional(),
  alertsBelowZero: flag('Whether an alert below zero is built in for it.').default(true),
  unit: oneLine('What it counts where that is not `currency`: "minutes", or another currency.').optional(),
  ...amountKeys,
}).refine(...separatorsDiffer);

const factAmount = shape(amountKeys).refine(...separatorsDiffer);

type Scalar = string | number | boolean | null;

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()], {
  error: 'must be a string, a number, true, false or null',
});
const testKeys = {
  path: path('Where in the answer. Without `equals` and `in`: something stands there, and it is not null.'),
  equals: scalar.describe('The value that stands there. A number and its text are the same.').optional(),
  in: filledList('The values of which one stands there.', scalar, 'must be a list of values').optional(),
};
const test = shape(testKeys).transform(testOf);

/** A condition on an answer: one of `values` is at `path`, or anything except null if `values` is null. */
export interface Test {
  readonly path: Path;
  readonly values: readonly Scalar[] | null;
}

function testOf(given: z.output<z.ZodObject<typeof testKeys>>): Test {
  const values = [...(given.in ?? []), ...(given.equals === undefined ? [] : [given.equals])];
  return { path: given.path, values: values.length === 0 ? null : values };
}

const meanings = ['auth_failed', 'rate_limited', 'api_error', 'clock_off'] as const;

const errorShape = shape({
  status: wholeNumber('The HTTP status of the answer.', { min: 200, max: 599 }).optional(),
  ...testKeys,
  path: testKeys.path.optional(),
  means: choice(
    'The outcome that it is; `clock_off`: this machine’s clock is off, which is no refused key.',
    meanings,
  ),
})
  .refine(({ status, path: at }) => (status ?? at) !== undefined, { error: 'needs "status" or "path"' })
  .transform(({ status, path: at, means, ...given }) => ({
    status: status ?? null,
    test: at === undefined ? null : testOf({ ...given, path: at }),
    means,
  }));

const wordsForm = 'must be an object of texts, such as {"euros": "EUR"}';
const currency = z
  .union(
    [
      shape({
        path: path('Where the currency stands.'),
        pattern: pattern.optional(),
        otherwise: oneLine('The currency or unit of an answer that does not say one.').optional(),
        map: z
          .record(z.string(), z.string({ error: wordsForm }), { error: wordsForm })
          .describe('What the words of the provider mean, such as {"euros": "EUR"}.')
          .optional(),
      }),
      shape({ fixed: oneLine('The currency of every answer, such as "EUR".') }),
      shape({
        unit: textLeaf({
          description: 'What is counted where it is no money, such as "credits" or "messages".',
          allowed: 'must be a word of 4 to 16 lower-case letters and hyphens, such as "credits"',
          read: (text) => (isUnit(text) ? { value: text } : null),
        }),
      }),
    ],
    { error: 'must be {"path": …}, {"fixed": "EUR"} or {"unit": "credits"}' },
  )
  .describe('The currency of the balances, or the unit that they count.');

const token = shape({
  request: requestShape,
  path: path('Where the token stands in the answer.'),
  expiresIn: path('Where the answer says for how many seconds the token is good.').optional(),
  lifetime: duration('For how long a token is good where the answer does not say it.', {
    minMs: secondMs,
  }).prefault('10m'),
}).describe(
  'A request before the others that brings {{token}}: kept until shortly before it expires, shared by accounts with the same credentials, and asked for once more where it is refused.',
);

/** The keys that describe a provider, used by the schemas of the kind and of its presets. */
export const descriptionKeys = {
  request: requestShape,
  sign: signSchema.optional(),
  token: token.optional(),
  format: choice(
    'What the answer is. Of `text` the paths look at {"text": all of it, "lines": [[fields of the first line], …]}.',
    ['json', 'text'],
  ).default('json'),
  separator: textLeaf({
    description: 'What parts the fields of a line, where the answer is text.',
    allowed: 'must be a string of 1 to 5 characters',
    read: (text) => (/^.{1,5}$/u.test(text) ? { value: text } : null),
  }).default(','),
  balances: filledList(
    'The balances of an account, the leading one first.',
    balanceShape,
    'must be a list of balances',
  ).refine((all) => new Set(all.map((each) => each.id)).size === all.length, { error: 'has an id twice' }),
  currency,
  success: test.describe('What a good answer says, where the HTTP status does not say it.').optional(),
  errors: z
    .array(errorShape, { error: 'must be a list' })
    .default([])
    .describe(
      'What failures mean; the first that fits. 401 and 403 are auth_failed and 429 is rate_limited where none fits, or only one with a path alone that means api_error.',
    ),
  message: path('Where a failure is described in words.').optional(),
  postpaid: z
    .array(test, { error: 'must be a list' })
    .default([])
    .describe('Answers that mean that the account is not prepaid and has no balance.'),
  facts: shape({
    autoRecharge: test.describe('What an answer says where automatic recharge is on.').optional(),
    creditLimit: shape({
      ...amountKeys,
      included: flag(
        'Whether the balances are what is left with the credit: it is shown, and empty is 0 all the same.',
      ).default(false),
    })
      .refine(...separatorsDiffer)
      .describe('How far below zero the balance may go.')
      .optional(),
    pending: factAmount.describe('What is spent and not yet charged.').optional(),
    date: path(
      'The day that the answer is of: a text that begins as 2026-11-20, or Unix seconds. Rates are told as old by it.',
    ).optional(),
  })
    .default({})
    .describe('What else the answer says, for people to see.'),
  shortestEvery: duration('The shortest interval between polls that makes sense, since the figure lags.', {
    minMs: secondMs,
  }).optional(),
};

/** The request for a provider's balances, and the reading of its answer. */
export const descriptionSchema = shape(descriptionKeys);

export type WrittenDescription = z.input<typeof descriptionSchema>;

export type Description = z.output<typeof descriptionSchema>;
export type AmountDescription = z.output<typeof factAmount>;
export type CurrencyDescription = Description['currency'];
