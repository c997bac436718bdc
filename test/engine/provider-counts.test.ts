import { expect, test } from 'vitest';
import type { Outcome } from '../../src/domain/reading.ts';
import { observePoll } from '../../src/engine/observe.ts';
import { startMonitor } from '../../src/engine/restore.ts';
import { endTurn } from '../../src/engine/turn.ts';
import { cronCalendar } from '../../src/system/calendar.ts';
import { nothingStored } from '../../src/views/empty-reader.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { makeSettings } from '../support/settings.ts';

const start = Date.UTC(2026, 0, 1);
const common = { durationMs: 1, usage: {} };
const good: Outcome = { kind: 'ok', answer: { balances: { sms: 1, voip: 1 }, currency: 'CNY' }, ...common };
const timeout: Outcome = { kind: 'timeout', reason: 'too slow', ...common };
const refused: Outcome = { kind: 'auth_failed', reason: 'no such key', ...common };

test('failures of a provider’s accounts are counted as they come and go; a refused key is an answer', () => {
  const settings = makeSettings({ accounts: ['a', 'b', 'c'] });
  const state = startMonitor({
    settings,
    calendar: cronCalendar,
    random: seededRandom(),
    stored: nothingStored,
    now: start,
  });
  const [counts] = state.providers.values();
  const poll = (id: string, outcome: Outcome, at: number): void => {
    const account = state.accounts.get(id);
    if (account === undefined) throw new Error(`no account ${id}`);
    observePoll(state, account, outcome, start + at);
    endTurn(state, start + at);
  };
  poll('a', timeout, 1);
  poll('a', timeout, 2);
  poll('b', timeout, 3);
  poll('c', refused, 4);
  expect([counts?.accounts, counts?.failing, counts?.commonestReason]).toEqual([3, 2, 'too slow']);
  poll('a', good, 5);
  poll('b', refused, 6);
  expect([counts?.failing, counts?.commonestReason]).toEqual([0, 'no such key']);
});
