import { expect, test } from 'vitest';
import { hashSettings } from '../../src/config/hash-settings.ts';
import { Secret } from '../../src/domain/secret.ts';
import { makeAccount, makeSettings } from '../support/settings.ts';

const postgres = { url: new Secret('postgres://lowwater@db.example/lowwater') };
const settings = makeSettings({ accounts: ['otp', 'voice'] });

test.each([
  ['a key', { ...settings, accounts: [makeAccount('otp', { authSecret: new Secret('another') })] }],
  ['the order of accounts', { ...settings, accounts: settings.accounts.toReversed() }],
  ['a rule', { ...settings, rules: [] }],
])('another configuration is recognised by %s', async (_, other) => {
  expect(await hashSettings(other, postgres)).not.toBe(await hashSettings(settings, postgres));
});

test('where it stores, what it logs and the database that it is reported in make no other configuration, but another digest there', async () => {
  const elsewhere = { ...settings, log: { level: 'debug' as const }, server: null };
  const known = await hashSettings(settings, postgres);
  expect(await hashSettings(elsewhere, postgres)).toBe(known);
  expect(await hashSettings(settings, { url: new Secret('postgres://other') })).not.toBe(known);
});

test('several hosts of the database are reported in alike, whichever a daemon tries first', async () => {
  const hash = (hosts: string) =>
    hashSettings(settings, { url: new Secret(`postgres://ops:secret@${hosts}/lowwater`) });
  expect(await hash('two:5432,one:5432')).toBe(await hash('one:5432,two:5432'));
  expect(await hash('one:5432')).toBe(await hash('one:5432,two:5432'));
});

test('thousands of accounts are hashed in slices, between which others have their turn', async () => {
  const many = {
    ...settings,
    accounts: Array.from({ length: 10_000 }, (_, place) => makeAccount(`a-${place}`)),
  };
  let turns = 0;
  const count = (): void => {
    turns += 1;
    if (turns < 100) setImmediate(count);
  };
  setImmediate(count);
  await hashSettings(many, postgres);
  expect(turns).toBeGreaterThanOrEqual(9);
  turns = 100;
});
