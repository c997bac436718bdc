import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseJson } from '../../src/domain/json.ts';
import { markAmbiguous } from '../../src/net/ambiguity.ts';

/** A JSON text, and whether a key of any object in it stands there with values that are written differently. */
interface Written {
  readonly text: string;
  readonly isAmbiguous: boolean;
}

const plain = (text: string): Written => ({ text, isAmbiguous: false });

function writeObject(members: readonly (readonly [name: string, value: Written])[], blank: string): Written {
  const writings = new Map<string, Set<string>>();
  for (const [name, { text }] of members) writings.set(name, (writings.get(name) ?? new Set()).add(text));
  return {
    text: `{${members.map(([name, { text }]) => `${JSON.stringify(name)}${blank}:${blank}${text}`).join(',')}}`,
    isAmbiguous:
      members.some(([, value]) => value.isAmbiguous) || [...writings.values()].some(({ size }) => size > 1),
  };
}

const names = fc.constantFrom('a', 'b', '', 'a": ', '__proto__', 'constructor');
const { value: written } = fc.letrec<{ value: Written }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    fc.constantFrom('1', '1.0', 'null', '""', '"a\\": 1"', '"\\":"', '[]', '{}').map(plain),
    fc.array(tie('value'), { maxLength: 3 }).map((values) => ({
      text: `[${values.map(({ text }) => text).join(', ')}]`,
      isAmbiguous: values.some(({ isAmbiguous }) => isAmbiguous),
    })),
    fc
      .tuple(fc.array(fc.tuple(names, tie('value')), { maxLength: 4 }), fc.constantFrom('', ' ', '\n\t'))
      .map(([members, blank]) => writeObject(members, blank)),
  ),
}));

it('a key that stands twice, differently, is found wherever it lies, and nothing else is', () => {
  fc.assert(
    fc.property(written, ({ text, isAmbiguous }) => {
      expect(markAmbiguous(text, parseJson(text))).toBe(isAmbiguous);
    }),
    { numRuns: 2000 },
  );
});
