import { describe, expect, it } from 'vitest';
import { replaceableChannel, replaceableProvider } from '../../src/daemon/drain.ts';
import type { Outcome } from '../../src/domain/reading.ts';
import type { Channel, Delivery } from '../../src/ports/channel.ts';
import type { Provider } from '../../src/ports/provider.ts';
import { buildTestMessage } from '../support/messages.ts';
import { makeAccount } from '../support/settings.ts';

const { signal } = new AbortController();

function slowProvider() {
  const closed: number[] = [];
  const polls: ((outcome: Outcome) => void)[] = [];
  const provider: Provider = {
    readBalance: () => new Promise((resolve) => polls.push(resolve)),
    close: async () => void closed.push(1),
  };
  return { provider: replaceableProvider(provider), closed, polls };
}

const timedOut: Outcome = { kind: 'timeout', reason: 'late', durationMs: 1, usage: {} };

describe('what a reload replaces', () => {
  it('a provider closes when the last of its polls has ended', async () => {
    const { provider, closed, polls } = slowProvider();
    const running = [
      provider.readBalance(makeAccount('a'), signal),
      provider.readBalance(makeAccount('b'), signal),
    ];
    provider.closeAfterUse();
    expect(closed).toEqual([]);
    polls[0]?.(timedOut);
    await running[0];
    expect(closed).toEqual([]);
    polls[1]?.(timedOut);
    expect(await running[1]).toEqual(timedOut);
    expect(closed).toEqual([1]);
  });

  it('one that does nothing closes at once, and one that is not replaced not at all', async () => {
    const idle = slowProvider();
    idle.provider.closeAfterUse();
    expect(idle.closed).toEqual([1]);
    const kept = slowProvider();
    const poll = kept.provider.readBalance(makeAccount('a'), signal);
    kept.polls[0]?.(timedOut);
    await poll;
    expect(kept.closed).toEqual([]);
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
    const replaceable = replaceableChannel(channel);
    expect(replaceable).toMatchObject({ name: 'ops', threadsBySubject: false, minGapMs: 1000 });
    const sending = replaceable.send(buildTestMessage(), signal);
    replaceable.closeAfterUse();
    expect(closed).toEqual([]);
    end({ kind: 'delivered' });
    expect(await sending).toEqual({ kind: 'delivered' });
    expect(closed).toEqual([1]);
  });
});
