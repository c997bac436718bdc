import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { referenceFile, writeReference } from '../../scripts/configuration-reference.ts';
import { ruleKinds } from '../../src/rules/registry.ts';

it('the configuration reference says what the schema checks (else: npm run reference)', () => {
  expect(readFileSync(referenceFile, 'utf8')).toBe(writeReference());
});

it('the configuration reference has a section for each type of rule', () => {
  const sections = writeReference().match(/(?<=^### rules: ).+$/gm);
  expect(sections).toEqual(ruleKinds.map(({ type }) => type));
});
