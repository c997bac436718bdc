import type { Settings } from '../domain/settings.ts';
import type { Channel, Provider } from './ports.ts';
import { type Replaceable, replaceableChannel, replaceableProvider } from './replaceable.ts';

export interface ConnectionParts {
  readonly openProvider: (settings: Settings) => Provider;
  readonly openChannels: (settings: Settings) => readonly Channel[];
}

/** The provider and the channels of the configuration in force. */
export class Connections {
  readonly #parts: ConnectionParts;
  #provider: Provider & Replaceable;
  #channels: readonly (Channel & Replaceable)[];

  constructor(parts: ConnectionParts, settings: Settings) {
    this.#parts = parts;
    this.#provider = replaceableProvider(parts.openProvider(settings));
    this.#channels = parts.openChannels(settings).map(replaceableChannel);
  }

  get channels(): readonly Channel[] {
    return this.#channels;
  }

  readonly readBalance: Provider['readBalance'] = (...order) => this.#provider.readBalance(...order);

  /** Opens those of new settings. The old ones finish what they are doing, then close. */
  replace(settings: Settings): void {
    const replaced = [this.#provider, ...this.#channels];
    this.#provider = replaceableProvider(this.#parts.openProvider(settings));
    this.#channels = this.#parts.openChannels(settings).map(replaceableChannel);
    for (const old of replaced) old.closeAfterUse();
  }

  async close(): Promise<void> {
    await Promise.all([this.#provider.close(), ...this.#channels.map((channel) => channel.close())]);
  }
}
