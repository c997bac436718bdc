import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FormIndex } from '../../src/domain/form-index.ts';

/** Few letters, so that forms begin alike and lie in one another; some longer than what is kept of their beginnings,
 * none so long that its beginning counts too. */
const text = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom('a', 'b', 'é'), minLength, maxLength });

function replaceOneByOne(given: string, forms: readonly string[]): string {
  const longestFirst = forms.toSorted((left, right) => right.length - left.length);
  let clean = '';
  for (let place = 0; place < given.length; ) {
    const form = longestFirst.find((each) => given.startsWith(each, place));
    clean += form === undefined ? given[place] : '[secret]';
    place += form?.length ?? 1;
  }
  return clean;
}

it('finds and hides the longest form at each place, as if each were looked for by itself', () => {
  fc.assert(
    fc.property(
      fc.array(text(4, 15), { maxLength: 8 }),
      fc.array(text(4, 15), { maxLength: 8 }),
      fc.array(fc.oneof(text(0, 30), fc.nat(15)), { maxLength: 8 }),
      (first, later, parts) => {
        const index = new FormIndex((secret) => [secret, `${secret}${secret}`]);
        const known: string[] = [];
        for (const secrets of [first, later]) {
          for (const secret of secrets) index.add(secret);
          known.push(...secrets.flatMap((secret) => [secret, `${secret}${secret}`]));
          const given = parts
            .map((part) => (typeof part === 'string' ? part : (known[part % known.length] ?? '')))
            .join('');
          expect(index.replaceAll(given)).toBe(replaceOneByOne(given, known));
          expect(index.isIn(given)).toBe(known.some((form) => given.includes(form)));
        }
      },
    ),
  );
});

it('finds each of thousands of forms, and nothing in other texts', () => {
  const index = new FormIndex((secret) => [secret, secret.toUpperCase()]);
  const secrets = Array.from({ length: 20_000 }, (_, number) => `key-${number.toString(36)}-7f3c9d1e5b8a`);
  for (const secret of secrets) index.add(secret);
  expect(secrets.filter((secret) => !index.isIn(`x ${secret}`))).toEqual([]);
  expect(secrets.filter((secret) => index.isIn(secret.replace('key', 'kex')))).toEqual([]);
  expect(index.replaceAll('a KEY-A-7F3C9D1E5B8A b')).toBe('a [secret] b');
});
