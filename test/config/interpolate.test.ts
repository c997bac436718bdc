import { expect, test } from 'vitest';
import { type InterpolationSources, interpolate } from '../../src/config/interpolate.ts';
import { placeholder } from './sample.ts';

const env: Record<string, string> = {
  NAME: 'value',
  EMPTY: '',
  NESTED: placeholder('env:NAME'),
  DOLLAR: '$& $1',
};
const files: Record<string, string> = {
  '/run/key': 'file-value\n',
  '/run/windows': 'file-value\r\n',
  '/run/two': 'a\n\n',
  '/run/empty': '',
  '/run/newline': '\n',
};
const sources: InterpolationSources = {
  env: (name) => env[name],
  file: (path) => {
    const text = files[path];
    return text === undefined ? { failed: 'no such file' } : { text };
  },
};

test.each<[string, string, string]>([
  ['text without placeholders', 'plain $ {x} $$', 'plain $ {x} $$'],
  ['a variable', placeholder('env:NAME'), 'value'],
  ['a variable inside a text', `<${placeholder('env:NAME')}>`, '<value>'],
  ['several placeholders', `${placeholder('env:NAME')}/${placeholder('file:/run/key')}`, 'value/file-value'],
  ['a default that is not needed', placeholder('env:NAME:-other'), 'value'],
  ['the default of an unset variable', placeholder('env:UNSET:-other'), 'other'],
  ['the default of an empty variable', placeholder('env:EMPTY:-other'), 'other'],
  ['an empty default', placeholder('env:UNSET:-'), ''],
  ['a default with a colon and a dash in it', placeholder('env:UNSET:-a:-b'), 'a:-b'],
  ['a default in braces that is not needed', placeholder('env:NAME:-{"a":1}'), 'value'],
  ['a default in braces', `<${placeholder('env:UNSET:-{"a":1}')}>`, '<{"a":1}>'],
  ['a default with an opening brace alone', placeholder('env:UNSET:-a{b'), 'a{b'],
  ['a file, without the newline at its end', placeholder('file:/run/key'), 'file-value'],
  ['a file with a Windows newline', placeholder('file:/run/windows'), 'file-value'],
  ['only the last newline of a file', placeholder('file:/run/two'), 'a\n'],
  ['an escaped placeholder', `$${placeholder('env:NAME')}`, placeholder('env:NAME')],
  [
    'an escape before a real one',
    `$${placeholder('a')}${placeholder('env:NAME')}`,
    `${placeholder('a')}value`,
  ],
  [
    'a value that looks like a placeholder, which is not read again',
    placeholder('env:NESTED'),
    placeholder('env:NAME'),
  ],
  ['a value with signs of replacement patterns', placeholder('env:DOLLAR'), '$& $1'],
])('%s', (_, text, expected) => {
  expect(interpolate(text, sources)).toMatchObject({ kind: 'text', text: expected });
});

test.each<[string, string, RegExp]>([
  [
    'a placeholder as default of another',
    placeholder(`env:UNSET:-${placeholder('env:NAME')}`),
    /cannot hold another/,
  ],
  ['a placeholder in a path', placeholder(`file:/run/${placeholder('env:NAME')}`), /cannot hold another/],
  ['an unset variable', placeholder('env:UNSET'), /the environment variable UNSET is not set/],
  ['an empty variable', placeholder('env:EMPTY'), /the environment variable EMPTY is empty/],
  ['a missing file', placeholder('file:/run/none'), /the file "\/run\/none" cannot be read: no such file/],
  ['an empty file', placeholder('file:/run/empty'), /the file "\/run\/empty" is empty/],
  ['a file with a newline only', placeholder('file:/run/newline'), /is empty/],
  ['an unknown form', placeholder('NAME'), /unknown placeholder/],
  ['an empty form', placeholder(''), /unknown placeholder/],
  ['a variable with blanks in its name', placeholder('env:MY NAME'), /unknown placeholder/],
  ['a file without a path', placeholder('file:'), /unknown placeholder/],
  ['a placeholder that is not closed', `a \${env:NAME`, /is not closed/],
])('%s is refused', (_, text, message) => {
  const result = interpolate(text, sources);
  expect(result.kind === 'failed' ? result.messages : []).toEqual([expect.stringMatching(message)]);
});

test('every placeholder of a text that fails is reported', () => {
  const result = interpolate(placeholder('env:A') + placeholder('env:B'), sources);
  expect(result).toMatchObject({
    kind: 'failed',
    messages: [expect.stringMatching(/ A /), expect.stringMatching(/ B /)],
  });
});

test('a text that is one placeholder is distinguished from one that holds more', () => {
  expect(interpolate(placeholder('env:NAME'), sources)).toMatchObject({
    from: [{ source: { kind: 'environment', name: 'NAME' } }],
    whole: true,
  });
  expect(interpolate(`${placeholder('env:NAME')} `, sources)).toMatchObject({
    from: [{ source: { kind: 'environment', name: 'NAME' } }],
    whole: false,
  });
  expect(interpolate('plain', sources)).toMatchObject({ from: [], whole: false });
});
