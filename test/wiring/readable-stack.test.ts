import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { nameSources } from '../../src/wiring/process-log.ts';
import { builtMain } from '../support/built-program.ts';

describe('the stack of an error', () => {
  it('says where in the sources a call of the built program stands', () => {
    const error = new Error('broken');
    error.stack = `Error: broken\n    at ${placeOf('startProcess(ending)')}\n    at node:internal/modules:1:2`;
    nameSources(error);
    expect(error.stack).toBe(
      `Error: broken\n    at ${sourceOf('startProcess(ending)')}\n    at node:internal/modules:1:2`,
    );
  });

  it('says it of each cause too, and leaves places alone that no map knows', () => {
    const cause = new Error('deeper');
    cause.stack = `Error: deeper\n    at ${placeOf('startProcess(ending)')}`;
    const error = new Error('broken', { cause });
    error.stack = 'Error: broken\n    at file:///nowhere/else.js:1:2';
    nameSources(error);
    expect(error.stack).toBe('Error: broken\n    at file:///nowhere/else.js:1:2');
    expect(cause.stack).toContain('src/main.ts:');
  });
});

function placeOf(words: string): string {
  return `${pathToFileURL(builtMain)}:${lineAndColumn(builtMain, words)}`;
}

function sourceOf(words: string): string {
  const file = join(import.meta.dirname, '../../src/main.ts');
  return `${file}:${lineAndColumn(file, words)}`;
}

function lineAndColumn(file: string, words: string): string {
  const lines = readFileSync(file, 'utf8').split('\n');
  const line = lines.findIndex((text) => text.includes(words));
  return `${line + 1}:${(lines[line]?.indexOf(words) ?? 0) + 1}`;
}
