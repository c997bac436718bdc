import { expect, test } from 'vitest';
import { followAccounts, reconfigure } from '../../src/engine/reconfigure.ts';
import { startMonitor } from '../../src/engine/restore.ts';
import { cronCalendar } from '../../src/system/calendar.ts';
import { nothingStored } from '../../src/views/empty-reader.ts';
import { factsNoon, negativeRule } from '../support/account-facts.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { makeAccount, makeSettings } from '../support/settings.ts';

test('a rule that names no balance watches the first one of each account, no matter what the provider calls it', () => {
  const main = [{ id: 'main', label: 'Balance', alertsBelowZero: true }];
  const state = startMonitor({
    settings: makeSettings({
      accounts: [makeAccount('otp'), makeAccount('wallet', { balances: main }), makeAccount('marketing')],
      rules: [negativeRule({ id: 'low', balance: '' })],
    }),
    calendar: cronCalendar,
    random: seededRandom(),
    stored: nothingStored,
    now: factsNoon,
  });
  const watched = [...state.accounts.values()].map(({ id, rules }) => [
    id,
    rules.find((rule) => rule.id === 'low')?.balance,
  ]);
  expect(watched).toEqual([
    ['otp', 'sms'],
    ['wallet', 'main'],
    ['marketing', 'sms'],
  ]);
});

test('accounts that were not brought along before another reload came get the rules of that one', () => {
  const accounts = Array.from({ length: 1100 }, (_, index) => makeAccount(`a${index}`));
  const state = startMonitor({
    settings: makeSettings({ accounts, rules: [negativeRule({ id: 'old' })] }),
    calendar: cronCalendar,
    random: seededRandom(),
    stored: nothingStored,
    now: factsNoon,
  });
  const next = makeSettings({ accounts, rules: [negativeRule({ id: 'new' })] });
  expect(reconfigure(state, next, factsNoon)).toHaveLength(100);
  followAccounts(state, reconfigure(state, { ...next, reports: [] }, factsNoon), factsNoon);
  const firstRules = new Set([...state.accounts.values()].map(({ rules }) => rules[0]?.id));
  expect([...firstRules]).toEqual(['new']);
});
