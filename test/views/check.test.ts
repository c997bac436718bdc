import { expect, it } from 'vitest';
import { Secret } from '../../src/domain/secret.ts';
import type { Settings } from '../../src/domain/settings.ts';
import type { StoredState } from '../../src/ports/store.ts';
import { cronCalendar } from '../../src/system/calendar.ts';
import { systemClock } from '../../src/system/clock.ts';
import { checkAccounts } from '../../src/views/check.ts';
import { emptyReader, nothingStored } from '../../src/views/empty-reader.ts';
import { ScriptedProvider } from '../support/scripted-provider.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { makeAccount, makeProvider, makeSettings } from '../support/settings.ts';

function check(settings: Settings, provider: ScriptedProvider, stored: Partial<StoredState> = {}) {
  return checkAccounts({
    settings,
    account: null,
    provider,
    reader: { ...emptyReader, load: async () => ({ ...nothingStored, ...stored }) },
    clock: systemClock,
    random: seededRandom(),
    calendar: cronCalendar,
    signal: new AbortController().signal,
  });
}

it('a check asks no other account with a key whose rate the provider has just limited', async () => {
  const authSecret = new Secret('a-shared-key');
  const accounts = [
    makeAccount('first', { authSecret }),
    makeAccount('second', { authSecret }),
    makeAccount('other'),
    makeAccount('third', { authSecret }),
  ];
  const provider = new ScriptedProvider(systemClock.now);
  provider.fail('second', 'rate_limited');
  const checked = await check(makeSettings({ accounts }), provider);
  expect(checked.map(({ view, outcome }) => [view.id, outcome, view.outcome])).toEqual([
    ['first', 'ok', 'ok'],
    ['second', 'rate_limited', 'rate_limited'],
    ['other', 'ok', 'ok'],
    ['third', null, null],
  ]);
  expect([...provider.asked.keys()].toSorted()).toEqual(['first', 'other', 'second']);
});

it('a check asks nobody who has to wait by what is stored', async () => {
  const provider = new ScriptedProvider(systemClock.now);
  const until = systemClock.now() + 90_000;
  const settings = makeSettings({ accounts: ['waiting', 'other'].map((id) => makeAccount(id)) });
  const checked = await check(settings, provider, { backoffs: [{ group: 'waiting', strikes: 3, until }] });
  expect(checked).toMatchObject([
    {
      outcome: null,
      reason: expect.stringMatching(
        /^not asked: the provider refused lately; the next poll is due in 1 minute/,
      ),
    },
    { outcome: 'ok', reason: null },
  ]);
  expect([...provider.asked.keys()]).toEqual(['other']);
});

it('a check of an account whose readings are pushed asks nobody, and goes by what was pushed', async () => {
  const own = { ...makeProvider(), name: 'own', type: 'pushed', polled: false };
  const account = makeAccount('ai', { provider: 'own', baseUrl: null, credentials: {} });
  const provider = new ScriptedProvider(systemClock.now);
  const settings = makeSettings({ accounts: [account], providers: { own } });
  const checked = await check(settings, provider);
  expect(checked).toMatchObject([{ outcome: null, reason: 'nothing is asked: its readings are pushed' }]);
  expect(provider.asked.size).toBe(0);
});
