import { describe, expect, test } from 'vitest';
import { Secret } from '../../src/domain/secret.ts';
import type { Provider } from '../../src/ports/provider.ts';
import { hourMs, minuteMs } from '../support/account-facts.ts';
import { give } from '../support/orders.ts';
import { makeAccount, makeProvider, makeSettings, type SettingsParts } from '../support/settings.ts';
import { startWorld, type World } from '../support/world.ts';

const secondMs = 1000;
const ids = ['a0', 'a1', 'a2', 'a3', 'a4', 'a5'];
const shared = makeAccount('a0').credentials;
const parts = {
  accounts: ids.map((id) =>
    makeAccount(id, { credentials: shared, poll: { kind: 'every', everyMs: 5 * minuteMs } }),
  ),
  provider: { ...makeSettings().provider, maxRequestsPerSecond: 1 },
};

function instantsOf(world: World): number[] {
  return [...world.provider.asked.values()].flat().sort((left, right) => left - right);
}

/** Pauses between requests that followed each other, in milliseconds. */
function pauses(instants: readonly number[]): number[] {
  return instants.slice(1).map((at, index) => at - (instants[index] ?? at));
}

test('polls that are asked for while all wait in the queue keep the distance of the guard', async () => {
  const world = await startWorld(parts);
  world.provider.asked.clear();
  for (let round = 0; round < 3; round++) {
    for (const id of ids) void give(world.views, { kind: 'poll', account: id });
    await world.pass(1500);
  }
  await world.pass(20 * secondMs);
  const instants = instantsOf(world);
  expect(instants.length).toBeGreaterThanOrEqual(ids.length);
  expect(Math.min(...pauses(instants))).toBeGreaterThanOrEqual(secondMs);
});

test('a daemon that is started again and again asks no faster than the guard', async () => {
  const world = await startWorld(parts);
  world.provider.asked.clear();
  for (let restart = 0; restart < 20; restart++) {
    await world.restart({ downMs: 0 });
    await world.pass(300);
  }
  const instants = instantsOf(world);
  expect(instants.length).toBeGreaterThan(1);
  expect(Math.min(...pauses(instants))).toBeGreaterThanOrEqual(secondMs);
});

test('an account that is polled once a day does not keep those with the same secret waiting for a day', async () => {
  const daily = makeAccount('a0', {
    credentials: shared,
    poll: { kind: 'every', everyMs: 24 * 60 * minuteMs },
  });
  const often = makeAccount('a1', { credentials: shared, poll: { kind: 'every', everyMs: 5 * minuteMs } });
  const world = await startWorld({ accounts: [daily, often] });
  world.provider.fail('a0', 'rate_limited');
  void give(world.views, { kind: 'poll', account: 'a0' });
  await world.pass(2 * secondMs);
  world.provider.asked.clear();
  await world.pass(12 * minuteMs);
  expect(world.provider.asked.get('a1')?.length).toBeGreaterThanOrEqual(1);
  expect(world.provider.asked.get('a0') ?? []).toEqual([]);
});

test('one rate limit that all requests under way met is one, and the group waits as after the first', async () => {
  const accounts = parts.accounts.map((account) => ({
    ...account,
    poll: { kind: 'every', everyMs: 10 * secondMs } as const,
  }));
  const world = await startWorld({ ...parts, accounts });
  const answers = Promise.withResolvers<void>();
  world.provider.hold = answers.promise;
  world.provider.asked.clear();
  await world.pass(20 * secondMs);
  expect(instantsOf(world).length).toBe(ids.length);
  world.provider.breakDown('rate_limited');
  answers.resolve();
  await world.pass(secondMs);
  world.provider.recover();
  world.provider.asked.clear();
  await world.pass(45 * secondMs);
  expect(instantsOf(world)).not.toEqual([]);
});

test('`Retry-After` on a 503 is obeyed by the whole group, no matter who asks, and over a restart', async () => {
  const accounts = ['a0', 'a1'].map((id) =>
    makeAccount(id, { credentials: shared, poll: { kind: 'every', everyMs: minuteMs } }),
  );
  const world = await startWorld({ accounts });
  world.provider.fail('a0', 'http_error', { retryAfterMs: 5 * 60 * minuteMs });
  await world.pass(2 * minuteMs);
  world.provider.set('a0', 10);
  world.provider.asked.clear();
  await world.pass(60 * minuteMs);
  expect(world.daemon.poller.pollNow('a0')).toBeNull();
  await world.restart({ downMs: 10 * minuteMs });
  await world.pass(3.5 * 60 * minuteMs);
  expect(instantsOf(world)).toEqual([]);
  await world.pass(30 * minuteMs);
  expect(world.provider.asked.get('a0')?.length).toBeGreaterThan(10);
  expect(world.provider.asked.get('a1')?.length).toBeGreaterThan(10);
});

test('connections that take their time bunch no requests: the guard holds at the instant of sending', async () => {
  const world = await startWorld({ ...parts, provider: { ...parts.provider, maxRequestsPerSecond: 20 } });
  await world.pass(5 * minuteMs);
  const sentAt: number[] = [];
  let connectMs = 400;
  const later = (ms: number) => new Promise<void>((resolve) => world.clock.setTimer(ms, resolve));
  const readBalance: Provider['readBalance'] = world.provider.readBalance.bind(world.provider);
  world.provider.readBalance = async (account, signal, guard = () => 0) => {
    // The first ones wait for their connections, which come to be at the same moment; the rest find them.
    connectMs = Math.max(0, connectMs - 50);
    await later(connectMs);
    for (let waitMs = guard(); waitMs > 0; waitMs = guard()) await later(waitMs);
    sentAt.push(world.now);
    return readBalance(account, signal);
  };
  for (let round = 0; round < 4; round += 1) {
    for (const id of ids) void give(world.views, { kind: 'poll', account: id });
    await world.pass(250);
  }
  await world.pass(5 * secondMs);
  expect(sentAt.length).toBeGreaterThanOrEqual(2 * ids.length);
  expect(Math.min(...pauses(sentAt))).toBeGreaterThanOrEqual(50);
});

test('after a crash the first request waits for its turn: nobody knows what was sent last', async () => {
  const world = await startWorld(parts);
  world.provider.asked.clear();
  world.crash();
  const startedAt = world.now;
  world.start();
  await world.pass(10 * secondMs);
  expect(instantsOf(world)[0]).toBeGreaterThanOrEqual(startedAt + secondMs);
});

const everyMinute = (all: readonly string[]) => ({
  ...parts,
  accounts: all.map((id) =>
    makeAccount(id, { credentials: shared, poll: { kind: 'every', everyMs: minuteMs } }),
  ),
});

/** The provider asks the group of `a0` to wait for an hour, and the configuration changes: nobody is asked in the next half hour. */
async function waitOver(how: string, before: SettingsParts, after: SettingsParts) {
  const world = await startWorld(before);
  await world.pass(minuteMs);
  world.provider.asked.clear();
  world.provider.fail('a0', 'rate_limited', { retryAfterMs: 60 * minuteMs });
  void give(world.views, { kind: 'poll', account: 'a0' });
  await world.pass(10 * secondMs);
  const askedBefore = instantsOf(world).length;
  if (how === 'reload') await world.reload(after);
  else await world.restart({ downMs: 0, parts: after });
  await world.pass(30 * minuteMs);
  expect(instantsOf(world).length).toBe(askedBefore);
  return { world, askedBefore };
}

describe.each<readonly [string, readonly string[]]>([
  ['its first account has another name', ['renamed', 'a1', 'a2']],
  ['its first account is gone', ['a1', 'a2']],
  ['another account stands before it', ['new', 'a0', 'a1', 'a2']],
])('a group of which %s', (_, present) => {
  test.each(['reload', 'restart'])('waits as long after a rate limit: %s', async (how) => {
    const { world, askedBefore } = await waitOver(how, everyMinute(['a0', 'a1', 'a2']), everyMinute(present));
    await world.pass(35 * minuteMs);
    expect(instantsOf(world).length).toBeGreaterThan(askedBefore);
  });

  test('is asked no faster after a reload', async () => {
    const world = await startWorld(everyMinute(['a0', 'a1', 'a2']));
    await world.pass(90 * secondMs);
    world.provider.asked.clear();
    void give(world.views, { kind: 'poll', account: 'a0' });
    await world.pass(1);
    expect(instantsOf(world)).toHaveLength(1);
    await world.reload(everyMinute(present));
    for (const account of present) void give(world.views, { kind: 'poll', account });
    await world.pass(10 * secondMs);
    expect(instantsOf(world).length).toBeGreaterThan(present.length);
    expect(Math.min(...pauses(instantsOf(world)))).toBeGreaterThanOrEqual(secondMs);
  });
});

const ofEntry = (name: string, all: readonly string[]) => ({
  providers: { [name]: makeProvider({ name, written: { type: 'http-json' } }) },
  accounts: all.map((id) =>
    makeAccount(id, {
      provider: name,
      baseUrl: null,
      credentials: shared,
      poll: { kind: 'every', everyMs: minuteMs },
    }),
  ),
});

test.each(['reload', 'restart'])(
  'a group whose entry has another name and whose first account is gone waits as long after a rate limit: %s',
  async (how) => {
    await waitOver(how, ofEntry('sms', ['a0', 'a1', 'a2']), ofEntry('texts', ['a1', 'a2']));
  },
);

test('reloads that come faster than a group may be asked stop no poll, whether or not they change something else', async () => {
  const polled = (retentionMs: number) => ({
    ...everyMinute(['a0', 'a1', 'a2']),
    storage: { path: 'unused', retentionMs },
  });
  const world = await startWorld(polled(24 * hourMs));
  await world.pass(2 * minuteMs);
  world.provider.asked.clear();
  for (let nth = 0; nth < 200; nth += 1) {
    await world.reload(polled(24 * hourMs + (nth % 2)));
    await world.pass(850);
  }
  expect(instantsOf(world).length).toBeGreaterThanOrEqual(6);
  expect(Math.min(...pauses(instantsOf(world)))).toBeGreaterThanOrEqual(secondMs);
});

test.each([
  ['removes its account', ids.slice(1)],
  ['gives its account another key', ids],
] as const)('a request that waits to be sent is not sent after a reload that %s', async (_how, kept) => {
  const world = await startWorld(parts);
  await world.pass(10 * secondMs);
  const sent: string[] = [];
  const later = (ms: number) => new Promise<void>((resolve) => world.clock.setTimer(ms, resolve));
  world.provider.readBalance = async ({ id, credentials }, _signal, guard = () => 0) => {
    await later(2 * secondMs);
    let waitMs = guard();
    for (; waitMs > 0 && Number.isFinite(waitMs); waitMs = guard()) await later(waitMs);
    if (waitMs === 0) sent.push(`${id} ${credentials.authSecret?.reveal()}`);
    return { kind: 'network_error', reason: 'given up', durationMs: 1, usage: {} };
  };
  void give(world.views, { kind: 'poll', account: 'a0' });
  await world.pass(1500);
  const other = makeAccount('a0', { authSecret: new Secret('another-key') });
  await world.reload({
    ...parts,
    accounts: parts.accounts.flatMap((each) =>
      kept.some((id) => id === each.id) ? [each.id === 'a0' ? other : each] : [],
    ),
  });
  await world.pass(10 * secondMs);
  expect(sent).not.toContain('a0 key-of-a0');
  expect(sent).toEqual(kept.includes('a0') ? ['a0 another-key'] : []);
});
