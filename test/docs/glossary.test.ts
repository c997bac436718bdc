import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const readText = (path: string) => readFileSync(join(root, path), 'utf8');

interface Row {
  readonly words: readonly string[];
  /** Absent of words that people meet. */
  readonly file?: string;
}

const sources = globSync('src/**/*.ts', { cwd: root });

const rows: readonly Row[] = [...readText('docs/glossary.md').matchAll(/^\| (?!word |---)(.+) \|$/gm)].map(
  ([, row = '']) => {
    const [words = '', , file] = row.split(' | ');
    return {
      words: words.split(/[,(]/).map((word) => word.replaceAll(/[`)]/g, '').trim()),
      ...(file === undefined ? {} : { file: file.replaceAll('`', '') }),
    };
  },
);

/** Whether a text says a word or its plural, also as part of a name (`dueQueue`, `RateGuard`), and with a hyphen or blank between its parts. */
function says(text: string, word: string): boolean {
  const parts = word.split(/[\s-]/).map((part) => {
    const [first = '', ...rest] = part.replaceAll(/[^\w]/g, '');
    return `[${first.toLowerCase()}${first.toUpperCase()}]${rest.join('')}`;
  });
  return new RegExp(`(?<![A-Za-z](?=[a-z]))${parts.join('[\\s_-]?')}(?:s|es)?(?![a-z])`).test(text);
}

/** Words that stand in no source, or not in the file that the row names. */
function findGone(glossary: readonly Row[]): string[] {
  return glossary.flatMap(({ words, file }) => {
    if (file !== undefined && !sources.includes(file)) return [`${file} is gone`];
    const searched = file === undefined ? sources : [file];
    return words
      .filter((word) => !searched.some((path) => says(readText(path), word)))
      .map((word) => `${file ?? 'src'} does not say ${word}`);
  });
}

describe('the glossary', () => {
  it('has at most 80 terms, each once', () => {
    const words = rows.flatMap((row) => row.words);
    expect(words.filter((word, index) => words.indexOf(word) !== index)).toEqual([]);
    expect(rows.filter(({ file }) => file !== undefined).length).toBeGreaterThan(25);
    expect(words.length).toBeLessThanOrEqual(80);
  });

  it('has no word and no file that the code no longer has', () => {
    expect(findGone(rows)).toEqual([]);
  });

  it('is found to name what is gone', () => {
    expect(
      findGone([
        { words: ['turn', 'recollection', 'turns of'], file: 'src/engine/turn.ts' },
        { words: ['ue queue', 'due que', 'due queue'], file: 'src/engine/due-queue.ts' },
        { words: ['turn'], file: 'src/engine/turns.ts' },
        { words: ['account', 'tenure of a standby'] },
      ]),
    ).toEqual([
      'src/engine/turn.ts does not say recollection',
      'src/engine/turn.ts does not say turns of',
      'src/engine/due-queue.ts does not say ue queue',
      'src/engine/due-queue.ts does not say due que',
      'src/engine/turns.ts is gone',
      'src does not say tenure of a standby',
    ]);
  });
});
