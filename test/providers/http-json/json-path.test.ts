import { describe, expect, test } from 'vitest';
import { parseExactly, parsePath } from '../../../src/providers/http-json/json-path.ts';
import { processorMs } from '../../support/processor-time.ts';

function digitsAt(json: string, path: string): readonly (string | null)[] | undefined {
  const parsed = parsePath(path);
  if (parsed === null || 'wrong' in parsed) throw new Error(`${path} is no path`);
  return parseExactly(json)
    ?.find(parsed)
    .map(({ digits }) => digits);
}

describe('the digits of a number', () => {
  test.each([
    ['of an object', '{"a":{"b":0.10000000000000000000001}}', '$.a.b', ['0.10000000000000000000001']],
    ['of a list', '[1, 12345678901234567890, 3]', '$[1]', ['12345678901234567890']],
    ['counted from the end of a list', '[1, 2.50]', '$[-1]', ['2.50']],
    ['that is the whole text', ' 7.2100 ', '$', ['7.2100']],
    ['with an exponent', '{"a":1.5E+3}', "$['a']", ['1.5E+3']],
    ['below a key with quotes', `{"it's \\"a\\"":{"b":1.10}}`, `$['it\\'s "a"'].b`, ['1.10']],
    ['chosen by a filter', '[{"c":"USD","v":1.0},{"c":"CNY","v":2.00}]', "$[?@.c=='CNY'].v", ['2.00']],
    ['found at any depth', '{"x":{"v":1.0},"y":[{"v":2.0}]}', '$..v', ['1.0', '2.0']],
    ['reached by two ways count once', '{"a":{"a":{"v":1.0}}}', '$..a..v', ['1.0']],
    [
      'reached by very many ways count once',
      `${'{"a":'.repeat(40)}{"v":1.0}${'}'.repeat(40)}`,
      '$..a..a..a..a..v',
      ['1.0'],
    ],
    ['written twice, the same', '{"a":2.00,"a":2.00}', '$.a', ['2.00']],
    ['written twice, differently, are none', '{"a":1.0,"a":2.00}', '$.a', [null]],
    ['below __proto__', '{"__proto__":{"a":1.50}}', "$['__proto__'].a", ['1.50']],
    ['of a text are none', '{"a":"1"}', '$.a', [null]],
    ['of a missing key are not there', '{"a":1}', '$.constructor', []],
  ])('%s', (_name, json, path, digits) => {
    expect(digitsAt(json, path)).toEqual(digits);
  });
});

describe('a text that is no JSON to lowwater', () => {
  test.each([
    ['HTML', '<!doctype html>'],
    ['nothing', ''],
    ['a cut-off object', '{"a":1'],
    ['NaN', '{"a":NaN}'],
    ['65 levels', '['.repeat(65) + ']'.repeat(65)],
    ['32,000 levels', '['.repeat(32_000) + ']'.repeat(32_000)],
  ])('%s', (_name, text) => {
    expect(parseExactly(text)).toBeNull();
  });

  test('more than 64 brackets side by side are read', () => {
    expect(digitsAt(`[${'[],{},'.repeat(100)}1.50]`, '$[-1]')).toEqual(['1.50']);
  });

  test('64 levels, a byte order mark and brackets within texts are read', () => {
    expect(parseExactly('['.repeat(64) + ']'.repeat(64))).not.toBeNull();
    expect(digitsAt(`\ufeff{"t":"${'['.repeat(100)}","a":1.0}`, '$.a')).toEqual(['1.0']);
  });
});

describe('a pattern in a path', () => {
  const x = (count: number) => 'x'.repeat(count);

  test.each([
    ['matches a whole text', '$[?match(@, "x.")]', ['xy', 'xyz', 'axy'], ['xy']],
    ['is searched in a text', '$[?search(@, "x.")]', ['xy', 'xyz', 'axy', 'y'], ['xy', 'xyz', 'axy']],
    ['meets a text of 64 characters', '$[?search(@, "x")]', [x(64)], [x(64)]],
    ['does not meet a longer one', '$[?search(@, "x")]', [x(65)], []],
    ['does not meet what is no text', '$[?search(@, "1")]', [1, null, { length: 1 }, ['1']], []],
  ])('%s', (_name, path, list, found) => {
    const parsed = parsePath(path);
    if (parsed === null || 'wrong' in parsed) throw new Error(`${path} is no path`);
    const values = parseExactly(JSON.stringify(list))?.find(parsed);
    expect(values?.map(({ value }) => value)).toEqual(found);
  });

  test.each([
    ['that repeats what repeats', '$[?match(@, "(x+)+")]'],
    ['that comes from the answer', '$[?search(@.text, @.pattern)]'],
    ['deep in a condition', '$.a[?@.b && (@.c || search(@.d, "(x+)+"))]'],
  ])('%s is refused with a sentence', (_name, path) => {
    expect(parsePath(path)).toEqual({ wrong: expect.stringMatching(/^holds a pattern that \w/) });
  });

  test('of another function is no pattern', () => {
    expect(parsePath('$[?length(@.a) > 1]')).toHaveProperty('text', '$[?length(@.a) > 1]');
  });
});

describe('a path', () => {
  test.each(
    [
      ['', 'data.balance', '$.', '$[', '$.a b', '$..', "$[?@.a='x']", '$.a[?length(@)]', '$ .a '],
      [
        '$[?!@.a==1]',
        '$[?@.a==1==true]',
        '$[?1<(@.a && @.b)]',
        '$[?@==-01]',
        '$[?@==00.5]',
        '$[0e0]',
        '$[0:0e1]',
        '$[?@==0.]',
        '$[0.5]',
      ],
    ].flat(),
  )('%j is none of RFC 9535', (text) => {
    expect(parsePath(text)).toBeNull();
  });

  test.each([
    ['a number below one in a filter', '$.a[?@==0.5 || @ == 0e1]', { a: [0.5, 0, 5] }, [0.5, 0]],
    ['a text that looks like one', "$.a[?@==' 0.5']", { a: [0.5, ' 0.5'] }, [' 0.5']],
    ['the root within two filters', '$.a[?@.b[?@.c==$.k]].d', { k: 1, a: [{ b: [{ c: 1 }], d: 7 }] }, [7]],
    [
      'the length in characters',
      '$.a[?length(@)==1]',
      { a: ['😀', 'ab', [1], { x: 1 }] },
      ['😀', [1], { x: 1 }],
    ],
    [
      'a condition that does not hold',
      "$.a[?!(@.b=='x') && !@.c]",
      { a: [{ b: 'y' }, { b: 'x' }] },
      [{ b: 'y' }],
    ],
  ])('finds by RFC 9535 %s', (_name, text, document, found) => {
    const path = parsePath(text);
    if (path === null || 'wrong' in path) throw new Error(`${text} is no path`);
    expect(
      parseExactly(JSON.stringify(document))
        ?.find(path)
        .map(({ value }) => value),
    ).toEqual(found);
  });
});

test('an answer of quotes and backslashes that never ends is refused in bounded time', () => {
  const startedAt = processorMs();
  for (const part of ['\\"', '"\\']) expect(parseExactly(`"${part.repeat(32_000)}`)).toBeNull();
  expect(processorMs() - startedAt).toBeLessThan(1000);
});
