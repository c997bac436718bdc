import { getOrMake } from '../../domain/get-or-make.ts';
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
      const open = () => createProviderClient({ ...options, kind: providerKindOf(entry), entry });
      return getOrMake(clients, entry.name, open).readBalance(account, signal, guard);
    },
    async close() {
      await Promise.all([...clients.values()].map((client) => client.close()));
    },
  };
}
