import { expect, test } from 'vitest';
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
