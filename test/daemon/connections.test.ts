import { expect, test } from 'vitest';
import { Connections } from '../../src/daemon/connections.ts';
import type { Provider } from '../../src/ports/provider.ts';
import { makeAccount, makeSettings } from '../support/settings.ts';

test('a reload keeps the connections to the provider unless what it says of the provider is different', () => {
  const events: string[] = [];
  const openProvider = (): Provider => {
    const number = events.filter((event) => event.startsWith('opened')).length + 1;
    events.push(`opened ${number}`);
    return {
      readBalance: () => Promise.reject(new Error('nobody asks')),
      close: async () => void events.push(`closed ${number}`),
    };
  };
  const before = makeSettings({ accounts: [makeAccount('otp')] });
  const connections = new Connections({ openProvider, openChannels: () => [] }, before);
  connections.replace({ ...before, provider: { ...before.provider }, accounts: [makeAccount('ads')] });
  expect(events).toEqual(['opened 1']);
  const other = { ...before, provider: { ...before.provider, timeoutMs: before.provider.timeoutMs + 1 } };
  connections.replace(other);
  expect(events).toEqual(['opened 1', 'opened 2', 'closed 1']);
  connections.replace(other);
  expect(events).toHaveLength(3);
});
