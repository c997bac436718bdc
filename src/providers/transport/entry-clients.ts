import { entryOf, type ProviderEntries } from '../../domain/provider-entry.ts';
import type { Provider } from '../../ports/provider.ts';
import { providerKindOf } from '../registry.ts';
import { createProviderClient, type ProviderClientOptions } from './client.ts';

/** The providers of a configuration as one: a client for each entry, opened when the first of its accounts is asked. */
export function createEntryClients(
  settings: ProviderEntries,
  options: Omit<ProviderClientOptions, 'kind' | 'entry'>,
): Provider {
  const clients = new Map<string, Provider>();
  return {
    readBalance(account, signal, guard) {
      const entry = entryOf(settings, account);
      let client = clients.get(entry.name);
      if (client === undefined) {
        client = createProviderClient({ ...options, kind: providerKindOf(entry), entry });
        clients.set(entry.name, client);
      }
      return client.readBalance(account, signal, guard);
    },
    async close() {
      await Promise.all([...clients.values()].map((client) => client.close()));
    },
  };
}
