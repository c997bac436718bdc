import { expect, test } from 'vitest';
import { describeParts, hashSettings } from '../../src/config/hash-settings.ts';
import { Secret } from '../../src/domain/secret.ts';
import { makeAccount, makeSettings } from '../support/settings.ts';
import { entryOfKind } from '../torture/draw-kinds.ts';

const postgres = { url: new Secret('postgres://lowwater@db.example/lowwater') };
const settings = makeSettings({ accounts: ['otp', 'voice'] });

test.each([
  ['a key', { ...settings, accounts: [makeAccount('otp', { authSecret: new Secret('another') })] }],
  ['the order of accounts', { ...settings, accounts: settings.accounts.toReversed() }],
  ['a rule', { ...settings, rules: [] }],
])('another configuration is recognised by %s', async (_, other) => {
  expect(await hashSettings(other, postgres)).not.toBe(await hashSettings(settings, postgres));
});

test('described providers, and one that rates are read from, are compared by what is written of them', async () => {
  const entry = entryOfKind('http-json');
  const source = { entry, account: makeAccount('rates'), everyMs: 1000, inverted: false };
  const described = { ...settings, providers: { entry }, money: { currency: 'EUR', rates: null, source } };
  const other = { ...described, providers: { entry: { ...entry, written: 'another' } } };
  expect(await hashSettings(other, postgres)).not.toBe(await hashSettings(described, postgres));
  const { keys } = await describeParts(described, postgres);
  const { keys: others } = await describeParts(other, postgres);
  expect(Object.keys(keys ?? {}).filter((key) => keys?.[key] !== others?.[key])).toEqual(['providers']);
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
