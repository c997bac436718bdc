import { expect, it } from 'vitest';
import type * as z from 'zod';
import { configSchema } from '../../src/config/schema/config.ts';
import { silenceOrderSchema } from '../../src/http/api/orders.ts';
import { accountMatch, alertMatch } from '../../src/schema/matchers.ts';

const match = '{"account":"otp","labels":{"__proto__":"x"}}';
const lost = 'no label can have this name';

it.each<[string, z.ZodType, string, readonly PropertyKey[]]>([
  ['of a rule', accountMatch, match, ['labels']],
  ['of a route or silence', alertMatch('Which.', []), match, ['labels']],
  ['of an order', silenceOrderSchema, `{"match":${match},"for":"1h"}`, ['match', 'labels']],
])('a match %s that would lose a label is refused, with its place', (_whose, schema, text, place) => {
  expect(schema.safeParse(JSON.parse(text)).error?.issues).toEqual([
    expect.objectContaining({ path: [...place, '__proto__'], message: lost }),
  ]);
});

it('a label of an account that would be lost is refused, with its place', () => {
  const { labels } = configSchema.shape.accounts.element.shape;
  expect(labels.safeParse(JSON.parse('{"__proto__":"x"}')).error?.issues).toEqual([
    expect.objectContaining({ path: ['__proto__'], message: lost }),
  ]);
});

it('keys of the match itself are never lost', () => {
  const schema = alertMatch('Which.', []);
  expect(schema.safeParse(JSON.parse('{"account":"otp","__proto__":{"rule":"x"}}')).success).toBe(false);
});

it('labels with other names that objects have of their own are kept', () => {
  const labels = JSON.parse('{"constructor":"a","toString":["b","c"]}');
  expect(accountMatch.parse({ labels })).toEqual({ labels: { constructor: ['a'], toString: ['b', 'c'] } });
});
