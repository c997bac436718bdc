import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { apiReferenceFile, writeApiReference } from '../../scripts/api-reference.ts';

it('the page of the API says what its document says (else: npm run reference)', async () => {
  expect(readFileSync(apiReferenceFile, 'utf8')).toBe(await writeApiReference());
});
