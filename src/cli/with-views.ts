import type { StoreReader } from '../ports/store.ts';
import type { Views } from '../views/views.ts';
import type { CommandInput } from './command.ts';
import type { CommandContext, LoadedConfiguration } from './context.ts';
import { loadConfiguration } from './load-configuration.ts';

interface OpenStoredViews {
  readonly views: Views;
  readonly reader: StoreReader;
}

type Use = (open: OpenStoredViews) => Promise<number>;

/**
 * Opens the configuration, lets `read` make out what was typed, and opens the database for as long as what that gives takes: wrong usage
 * is told of before anything that is wrong with the database.
 */
export async function withViews(
  context: CommandContext,
  input: CommandInput,
  read: (loaded: LoadedConfiguration) => Use | Promise<Use>,
): Promise<number> {
  const loaded = await loadConfiguration(context, input);
  const use = await read(loaded);
  const reader = await context.rooms.openReader(loaded.settings.storage);
  try {
    const views = await context.rooms.openStoredViews(loaded.settings, reader);
    return await use({ views, reader });
  } finally {
    await reader.close();
  }
}
