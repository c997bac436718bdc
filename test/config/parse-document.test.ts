import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseDocument } from '../../src/config/parse-document.ts';

test.each<[string, string, number, number, string]>([
  ['an empty file', ' \n', 1, 1, 'the file is empty'],
  ['a comment that is not closed', '{\n  /* no\n}', 2, 3, 'a comment is not closed'],
  ['a missing comma', '{\n  "a": 1\n  "b": 2\n}', 3, 3, 'a comma is missing before this'],
  ['a missing colon', '{ "a" 1 }', 1, 7, 'a colon is missing before this'],
  ['a missing brace at the end', '{\n  "a": 1\n', 3, 1, 'a closing brace } is missing'],
  ['a missing bracket at the end', '[1', 1, 3, 'a closing bracket ] is missing'],
  ['a missing value', '{ "a": }', 1, 8, 'a value is missing'],
  ['a string that is not closed', '{\n  "a": "hunter2\n}', 2, 8, 'a string is not closed on its line'],
  [
    'an unknown escape',
    '{ "a": "C:\\dir" }',
    1,
    8,
    'a string holds an escape that JSON does not know; write a backslash as \\\\',
  ],
  [
    'a bare control character',
    '{ "a": "\u0001" }',
    1,
    8,
    'a string holds a control character; write it as an escape such as \\n',
  ],
  [
    'single quotes',
    "{ 'a': 1 }",
    1,
    3,
    'this is not JSON: keys and texts stand in double quotes, other values are numbers, true, false or null',
  ],
  ['a number that is none', '{ "a": 1. }', 1, 8, 'this is not a JSON number'],
  ['absurd nesting', '['.repeat(200_000), 1, 65, 'nested deeper than 64 levels'],
])(
  '%s is reported with line and column, and nothing of the file is quoted',
  (_, text, line, column, message) => {
    const { isSound, problems } = parseDocument(text);
    expect({ isSound, problems }).toEqual({
      isSound: false,
      problems: [{ path: '', line, column, message }],
    });
  },
);

test('brackets inside strings do not count as nesting', () => {
  expect(parseDocument(`["${'['.repeat(1000)}", "\\"${'{'.repeat(1000)}"]`).isSound).toBe(true);
});

test('comments and trailing commas are accepted, as in tsconfig.json', () => {
  const parsed = parseDocument(`{
  // One {[ for each team.
  "a": [1, 2, /* "${'['.repeat(100)} */],
}`);
  expect(parsed).toMatchObject({ isSound: true, problems: [] });
});

test('a byte order mark and any line ends are tolerated', () => {
  const parsed = parseDocument('\uFEFF{\r\n  "a": 1,\r  "b": 2,\n  "a": 3\n}');
  expect(parsed.problems).toEqual([
    { path: 'a', line: 4, column: 3, message: 'duplicate key "a" (first on line 2)' },
  ]);
});

test('a key that appears twice is reported wherever it is nested', () => {
  const parsed = parseDocument('{ "list": [ {}, { "id": 1, "id": 2 } ] }');
  expect(parsed.problems.map((problem) => problem.path)).toEqual(['list[1].id']);
});

test('the key __proto__ is refused', () => {
  expect(parseDocument('{ "labels": { "__proto__": "x" } }').problems).toMatchObject([
    { path: 'labels.__proto__', message: 'this name cannot be used as a key' },
  ]);
});

test('everything that JSON.parse accepts is accepted, and with it only comments and commas at an end', () => {
  const pieces = [
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"a"',
    '"b"',
    '1',
    '-1.5e3',
    '01',
    'true',
    'nul',
    ' ',
    '\n',
    '"\\u12"',
    '"\\n"',
    '//',
  ];
  const texts = fc.oneof(
    fc.json(),
    fc.array(fc.constantFrom(...pieces), { maxLength: 9 }).map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(texts, (text) => {
      let isJson = true;
      try {
        JSON.parse(text);
      } catch {
        isJson = false;
      }
      const isNearly = /\/\/|,\s*[\]}]/.test(text);
      if (isJson || !isNearly) expect(parseDocument(text).isSound).toBe(isJson);
    }),
    { numRuns: 2000 },
  );
});

test('a file without a comment is read as the same file with one: values, keys that stand twice, lines', () => {
  const pieces = [
    '{"a":1,"a":2}',
    '{"__proto__":1}',
    '"\\\\"',
    '"\\"',
    '12345678901234567',
    '0.10',
    '1e400',
    '-0',
    '{"a":{"b":"x"}}',
  ];
  const texts = fc.oneof(
    fc.json({ maxDepth: 4 }),
    fc.array(fc.constantFrom(...pieces), { maxLength: 5 }).map((parts) => `[${parts.join(',\n')}]`),
    fc
      .array(fc.constantFrom(...pieces), { maxLength: 5 })
      .map((parts) => `[\n{"list": [${parts.join(', ')}\n]}]`),
  );
  fc.assert(
    fc.property(
      texts,
      fc.array(fc.constantFrom<string | number>('a', 'b', 'list', 0, 1, 2)),
      (text, path) => {
        const [plain, commented] = [parseDocument(text), parseDocument(`${text}//`)];
        expect(plain.problems).toEqual(commented.problems);
        expect(plain.isSound).toBe(commented.isSound);
        if (!plain.isSound) return;
        expect(plain.document?.value).toEqual(commented.document?.value);
        expect(plain.document?.placeOf(path)).toEqual(commented.document?.placeOf(path));
      },
    ),
    { numRuns: 2000 },
  );
});
