import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mutations } from './mutations.ts';

const root = join(import.meta.dirname, '..', '..');

test.each(mutations)('the bug "$name" can be put in: its place stands exactly once', ({ file, old }) => {
  expect(readFileSync(join(root, file), 'utf8').split(old)).toHaveLength(2);
});
