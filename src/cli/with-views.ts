import type { StoreReader } from '../daemon/ports.ts';
import type { Views } from '../views/views.ts';
import type { CommandInput } from './command.ts';
import type { CommandContext, LoadedConfiguration } from './context.ts';
import { loadConfiguration } from './load-configuration.ts';

export interface OpenStoredViews extends LoadedConfiguration {
  readonly views: Views;
  readonly reader: StoreReader;
}

/** Opens the configuration and its database for as long as `use` takes. */
export async function withViews(
  context: CommandContext,
  input: CommandInput,
  use: (open: OpenStoredViews) => Promise<number>,
): Promise<number> {
  const loaded = await loadConfiguration(context, input);
  const reader = await context.rooms.openReader(loaded.settings.storage);
  try {
    const views = await context.rooms.openStoredViews(loaded.settings, reader);
    return await use({ ...loaded, views, reader });
  } finally {
    await reader.close();
  }
}
