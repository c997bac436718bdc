import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { providerReferenceFile, writeProviderReference } from '../../scripts/provider-reference.ts';

it('the page of providers says what each preset says of itself (else: npm run reference)', () => {
  expect(readFileSync(providerReferenceFile, 'utf8')).toBe(writeProviderReference());
});
