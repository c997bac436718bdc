import { expect, it } from 'vitest';
import { Secret } from '../../src/domain/secret.ts';
import { cronCalendar } from '../../src/system/calendar.ts';
import { systemClock } from '../../src/system/clock.ts';
import { checkAccounts } from '../../src/views/check.ts';
import { emptyReader } from '../../src/views/empty-reader.ts';
import { ScriptedProvider } from '../support/scripted-provider.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { makeAccount, makeSettings } from '../support/settings.ts';

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
  const checked = await checkAccounts({
    settings: makeSettings({ accounts }),
    account: null,
    provider,
    reader: emptyReader,
    clock: systemClock,
    random: seededRandom(),
    calendar: cronCalendar,
    signal: new AbortController().signal,
  });
  expect(checked.map(({ view, outcome }) => [view.id, outcome.kind, view.outcome])).toEqual([
    ['first', 'ok', 'ok'],
    ['second', 'rate_limited', 'rate_limited'],
    ['other', 'ok', 'ok'],
    ['third', 'rate_limited', 'rate_limited'],
  ]);
  expect([...provider.asked.keys()].toSorted()).toEqual(['first', 'other', 'second']);
});
