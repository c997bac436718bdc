import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { referenceFile, writeReference } from '../../scripts/configuration-reference.ts';

it('the configuration reference says what the schema checks (else: npm run reference)', () => {
  expect(readFileSync(referenceFile, 'utf8')).toBe(writeReference());
});
