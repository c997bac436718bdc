import { entriesOf, entryText } from '../domain/provider-entry.ts';
import type { Settings } from '../domain/settings.ts';
import type { Channel } from '../ports/channel.ts';
import type { Provider } from '../ports/provider.ts';
import { type Replaceable, replaceableChannel, replaceableProvider } from './drain.ts';

export interface ConnectionDependencies {
  readonly openProvider: (settings: Settings) => Provider;
  readonly openChannels: (settings: Settings) => readonly Channel[];
}

export class Connections {
  readonly #dependencies: ConnectionDependencies;
  #settings: Settings;
  #provider: Provider & Replaceable;
  #channels: readonly (Channel & Replaceable)[];

  constructor(dependencies: ConnectionDependencies, settings: Settings) {
    this.#dependencies = dependencies;
    this.#settings = settings;
    this.#provider = replaceableProvider(dependencies.openProvider(settings));
    this.#channels = dependencies.openChannels(settings).map(replaceableChannel);
  }

  get channels(): readonly Channel[] {
    return this.#channels;
  }

  readonly readBalance: Provider['readBalance'] = (...order) => this.#provider.readBalance(...order);

  /**
   * Opens those of new settings; the old ones finish what they are doing, then close. Unchanged provider
   * settings keep their connections: thousands of handshakes would delay polls.
   */
  replace(settings: Settings): void {
    const old: Replaceable[] = [...this.#channels];
    this.#channels = this.#dependencies.openChannels(settings).map(replaceableChannel);
    if (
      entriesOf(settings).map(entryText).join('\n') !== entriesOf(this.#settings).map(entryText).join('\n')
    ) {
      old.push(this.#provider);
      this.#provider = replaceableProvider(this.#dependencies.openProvider(settings));
    }
    this.#settings = settings;
    for (const replaced of old) replaced.closeAfterUse();
  }

  async close(): Promise<void> {
    await Promise.all([this.#provider.close(), ...this.#channels.map((channel) => channel.close())]);
  }
}
