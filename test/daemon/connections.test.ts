import { describe, expect, it, test } from 'vitest';
import { createConnections } from '../../src/daemon/connections.ts';
import type { Outcome } from '../../src/domain/reading.ts';
import type { Channel, Delivery } from '../../src/ports/channel.ts';
import type { Provider } from '../../src/ports/provider.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { buildTestMessage } from '../support/messages.ts';
import { makeAccount, makeSettings } from '../support/settings.ts';

const dependencies = {
  clock: new FakeClock(0),
  farewellBegins: () => () => undefined,
  storeChanges: async () => true,
};
const { signal } = new AbortController();
const timedOut: Outcome = { kind: 'timeout', reason: 'late', durationMs: 1, usage: {} };
const before = makeSettings({ accounts: [makeAccount('otp')] });
const other = { ...before, provider: { ...before.provider, timeoutMs: before.provider.timeoutMs + 1 } };

/** Providers whose polls a test ends. */
function slowProviders() {
  const events: string[] = [];
  const polls: ((outcome: Outcome) => void)[] = [];
  const openProvider = (): Provider => {
    const number = events.filter((event) => event.startsWith('opened')).length + 1;
    events.push(`opened ${number}`);
    return {
      readBalance: () => new Promise((resolve) => polls.push(resolve)),
      close: async () => void events.push(`closed ${number}`),
    };
  };
  return {
    connections: createConnections({ ...dependencies, openProvider, openChannels: () => [] }, before),
    events,
    polls,
  };
}

test('a reload keeps the connections to the provider unless what it says of the provider is different', () => {
  const { connections, events } = slowProviders();
  connections.replace({ ...before, provider: { ...before.provider }, accounts: [makeAccount('ads')] });
  expect(events).toEqual(['opened 1']);
  connections.replace(other);
  expect(events).toEqual(['opened 1', 'opened 2', 'closed 1']);
  connections.replace(other);
  expect(events).toHaveLength(3);
});

describe('what a reload replaces', () => {
  it('a provider closes when the last of its polls has ended', async () => {
    const { connections, events, polls } = slowProviders();
    const running = [
      connections.readBalance(makeAccount('a'), signal),
      connections.readBalance(makeAccount('b'), signal),
    ];
    connections.replace(other);
    expect(events).toEqual(['opened 1', 'opened 2']);
    polls[0]?.(timedOut);
    await running[0];
    expect(events).toEqual(['opened 1', 'opened 2']);
    polls[1]?.(timedOut);
    expect(await running[1]).toEqual(timedOut);
    expect(events).toEqual(['opened 1', 'opened 2', 'closed 1']);
  });

  it('one that is not replaced does not close when its last poll ends', async () => {
    const { connections, events, polls } = slowProviders();
    const poll = connections.readBalance(makeAccount('a'), signal);
    polls[0]?.(timedOut);
    await poll;
    expect(events).toEqual(['opened 1']);
  });

  it('a channel lets its delivery finish', async () => {
    const closed: number[] = [];
    let end: (delivery: Delivery) => void = () => undefined;
    const channel: Channel = {
      name: 'ops',
      threadsBySubject: false,
      preview: async () => '',
      minGapMs: 1000,
      send: () =>
        new Promise((resolve) => {
          end = resolve;
        }),
      close: async () => void closed.push(1),
    };
    const openProvider = (): Provider => ({
      readBalance: () => Promise.reject(new Error('nobody asks')),
      close: async () => undefined,
    });
    const connections = createConnections(
      { ...dependencies, openProvider, openChannels: () => [channel] },
      before,
    );
    const [replaced] = connections.channels;
    expect(replaced).toMatchObject({ name: 'ops', threadsBySubject: false, minGapMs: 1000 });
    const sending = replaced?.send(buildTestMessage(), signal);
    connections.replace(before);
    expect(closed).toEqual([]);
    end({ kind: 'delivered' });
    expect(await sending).toEqual({ kind: 'delivered' });
    expect(closed).toEqual([1]);
  });
});
