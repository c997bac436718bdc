import { expect, test } from 'vitest';
import { compareConfigurations, haveSameConfiguration } from '../../src/cluster/compare-configurations.ts';
import { describeParts } from '../../src/config/hash-settings.ts';
import { Secret } from '../../src/domain/secret.ts';
import { makeSettings } from '../support/settings.ts';

test('what differs is named: what is missing, what was added, and what is another under the same name', () => {
  const owner = { accounts: { otp: 'a', voice: 'b' }, rules: { low: 'c' }, channels: {} };
  const other = { accounts: { otp: 'x', fresh: 'd' }, rules: { low: 'c' }, channels: { ops: 'e' } };
  expect(compareConfigurations(owner, other)).toBe(
    'accounts: otp (changed), voice (missing), fresh (added); channels: ops (added)',
  );
});

test('of daemons of two versions of the program nobody can tell whether their configurations differ: each makes other settings of a file', () => {
  const owner = { configHash: 'a', program: 'lowwater 0.3.0' };
  expect(haveSameConfiguration(owner, { configHash: 'b', program: 'lowwater 0.3.0' })).toBe(false);
  expect(haveSameConfiguration(owner, { configHash: 'b', program: 'lowwater 0.4.0' })).toBe(null);
  expect(haveSameConfiguration(owner, { configHash: 'a', program: 'lowwater 0.4.0' })).toBe(true);
});

test('a long list of names is cut', () => {
  const accounts = Object.fromEntries(Array.from({ length: 14 }, (_, index) => [`a${index}`, 'x']));
  expect(compareConfigurations({ accounts }, {})).toMatch(/a9 \(missing\), 4 more$/);
});

test('the parts of settings hold no secret, and the same settings have the same parts', async () => {
  const url = new Secret('postgres://u:p@host/db');
  const parts = await describeParts(makeSettings({}), { url });
  expect(await describeParts(makeSettings({}), { url })).toEqual(parts);
  for (const digests of Object.values(parts))
    for (const digest of Object.values(digests)) expect(digest).toMatch(/^[0-9a-f]{12}$/);
});
