import type { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { Secret } from '../../src/domain/secret.ts';
import type { Settings } from '../../src/domain/settings.ts';
import type { Provider } from '../../src/ports/provider.ts';
import type { StoredState } from '../../src/ports/store.ts';
import { cronCalendar } from '../../src/system/calendar.ts';
import { systemClock } from '../../src/system/clock.ts';
import { checkAccounts } from '../../src/views/check.ts';
import { emptyReader, nothingStored } from '../../src/views/empty-reader.ts';
import { accountState } from '../store/sqlite/batches.ts';
import { createTestClient, listenSockets, okBody } from '../support/loopback-provider.ts';
import { ScriptedProvider } from '../support/scripted-provider.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { makeAccount, makeProvider, makeSettings } from '../support/settings.ts';

function check(
  settings: Settings,
  provider: Provider,
  stored: Partial<StoredState> = {},
  { signal } = new AbortController(),
) {
  return checkAccounts({
    settings,
    account: null,
    provider,
    reader: { ...emptyReader, load: async () => ({ ...nothingStored, ...stored }) },
    clock: systemClock,
    random: seededRandom(),
    calendar: cronCalendar,
    signal,
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

it('a check that is ended while accounts wait for their turn ends at once, and asks none of them', async () => {
  const authSecret = new Secret('a-shared-key');
  const accounts = ['first', 'second', 'third'].map((id) => makeAccount(id, { authSecret }));
  const settings = makeSettings({ accounts, provider: { ...makeProvider(), maxRequestsPerSecond: 0.01 } });
  const asked: string[] = [];
  const ending = new AbortController();
  const provider: Provider = {
    async readBalance({ id }, signal) {
      if (!signal.aborted) asked.push(id);
      return { kind: 'network_error', reason: 'the request was given up', durationMs: 0, usage: {} };
    },
    close: async () => undefined,
  };
  const checking = check(settings, provider, {}, ending);
  systemClock.setTimer(50, () => ending.abort());
  expect(await checking).toHaveLength(3);
  expect(asked).toEqual(['first']);
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

it('a check sends the second try on a dead connection as far after the first as any other request', async () => {
  const sentAt: number[] = [];
  const answered = new Set<Socket>();
  const server = await listenSockets((socket) =>
    socket.on('data', () => {
      sentAt.push(systemClock.monotonic());
      if (answered.has(socket)) socket.destroy();
      else socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${okBody.length}\r\n\r\n${okBody}`);
      answered.add(socket);
    }),
  );
  const shared = { authSecret: new Secret('a-shared-key'), baseUrl: server.url };
  const accounts = ['first', 'second'].map((id) => makeAccount(id, shared));
  const provider = createTestClient();
  const checked = await check(
    makeSettings({ accounts, provider: makeProvider({ maxRequestsPerSecond: 1 }) }),
    provider,
  );
  expect(checked.map(({ outcome }) => outcome)).toEqual(['ok', 'ok']);
  const pauses = sentAt.slice(1).map((at, index) => at - (sentAt[index] ?? at));
  expect(pauses).toHaveLength(2);
  expect(Math.min(...pauses)).toBeGreaterThan(500);
  await provider.close();
  await server.close();
});

it('a check after a daemon that was killed keeps away from what it may have asked and not stored', async () => {
  const provider = new ScriptedProvider(systemClock.now);
  const settings = makeSettings({ provider: makeProvider({ maxRequestsPerSecond: 5 }) });
  const beganAt = systemClock.now();
  const polledAt = beganAt - 60_000;
  await check(settings, provider, {
    accounts: [{ ...accountState('otp'), polledAt, firstSeenAt: polledAt }],
  });
  expect(provider.asked.get('otp')?.[0]).toBeGreaterThanOrEqual(beganAt + 200);
});
