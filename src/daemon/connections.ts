import type { Message } from '../domain/message.ts';
import { entriesOf, entryText } from '../domain/provider-entry.ts';
import type { Settings } from '../domain/settings.ts';
import type { Channel } from '../ports/channel.ts';
import type { Provider } from '../ports/provider.ts';

export interface ConnectionDependencies {
  readonly openProvider: (settings: Settings) => Provider;
  readonly openChannels: (settings: Settings) => readonly Channel[];
}

export class Connections {
  readonly #dependencies: ConnectionDependencies;
  #settings: Settings;
  #provider: Opened<Provider>;
  #channels: readonly (Channel & { readonly opened: Opened<Channel> })[];

  constructor(dependencies: ConnectionDependencies, settings: Settings) {
    this.#dependencies = dependencies;
    this.#settings = settings;
    this.#provider = new Opened(dependencies.openProvider(settings));
    this.#channels = this.#openChannels(settings);
  }

  get channels(): readonly Channel[] {
    return this.#channels;
  }

  readonly readBalance: Provider['readBalance'] = (account, signal, guard) =>
    this.#provider.during(this.#provider.it.readBalance(account, signal, guard));

  /**
   * Opens those of new settings; the old ones finish what they are doing, then close. Unchanged provider
   * settings keep their connections: thousands of handshakes would delay polls.
   */
  replace(settings: Settings): void {
    for (const { opened } of this.#channels) opened.closeAfterUse();
    this.#channels = this.#openChannels(settings);
    const isSame =
      entriesOf(settings).map(entryText).join('\n') === entriesOf(this.#settings).map(entryText).join('\n');
    this.#settings = settings;
    if (isSame) return;
    const replaced = this.#provider;
    this.#provider = new Opened(this.#dependencies.openProvider(settings));
    replaced.closeAfterUse();
  }

  async close(): Promise<void> {
    await Promise.all([this.#provider.it.close(), ...this.#channels.map((channel) => channel.close())]);
  }

  #openChannels(settings: Settings) {
    return this.#dependencies.openChannels(settings).map((channel) => {
      const opened = new Opened(channel);
      return {
        ...channel,
        opened,
        send: (...order: Parameters<Channel['send']>) => opened.during(channel.send(...order)),
        preview: (message: Message) => channel.preview(message),
        close: () => channel.close(),
      };
    });
  }
}

/** Finishes its running work before it closes: a cut poll would fail, and a cut delivery would be sent twice. */
class Opened<Target extends Provider | Channel> {
  readonly it: Target;
  #running = 0;
  #replaced = false;

  constructor(it: Target) {
    this.it = it;
  }

  /** The work never rejects. */
  during<T>(work: Promise<T>): Promise<T> {
    this.#running += 1;
    return work.then(this.#ended);
  }

  closeAfterUse(): void {
    this.#replaced = true;
    if (this.#running === 0) void this.it.close();
  }

  readonly #ended = <T>(result: T): T => {
    this.#running -= 1;
    if (this.#replaced && this.#running === 0) void this.it.close();
    return result;
  };
}
