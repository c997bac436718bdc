import type { StoreReader } from '../domain/ports.ts';
import type { Desk } from '../views/desk.ts';
import type { CommandInput } from './command.ts';
import type { CommandContext } from './context.ts';
import { type LoadedConfiguration, loadConfiguration } from './load-configuration.ts';

export interface OpenDesk extends LoadedConfiguration {
  readonly desk: Desk;
  readonly reader: StoreReader;
}

/** Opens the configuration and its database for as long as `use` takes. */
export async function withDesk(
  context: CommandContext,
  input: CommandInput,
  use: (open: OpenDesk) => Promise<number>,
): Promise<number> {
  const loaded = await loadConfiguration(context, input);
  const reader = await context.rooms.openReader(loaded.settings.storage.path);
  try {
    const desk = await context.rooms.openDesk(loaded.settings, reader);
    return await use({ ...loaded, desk, reader });
  } finally {
    reader.close();
  }
}
