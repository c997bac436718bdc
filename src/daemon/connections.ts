import type { Message } from '../domain/message.ts';
import { entriesOf, entryText } from '../domain/provider-entry.ts';
import type { Settings } from '../domain/settings.ts';
import type { Channel } from '../ports/channel.ts';
import type { Provider } from '../ports/provider.ts';

export interface ConnectionDependencies {
  readonly openProvider: (settings: Settings) => Provider;
  readonly openChannels: (settings: Settings) => readonly Channel[];
}

export type Connections = ReturnType<typeof createConnections>;

export function createConnections({ openProvider, openChannels }: ConnectionDependencies, first: Settings) {
  let settings = first;
  let provider = drained(openProvider(settings));
  let channels = openAll();

  function openAll() {
    return openChannels(settings).map((channel) => {
      const opened = drained(channel);
      const send: Channel['send'] = (...order) => opened.during(channel.send(...order));
      const preview = (message: Message) => channel.preview(message);
      return { ...channel, opened, send, preview, close: () => channel.close() };
    });
  }

  const readBalance: Provider['readBalance'] = (...order) =>
    provider.during(provider.target.readBalance(...order));

  return {
    get channels(): readonly Channel[] {
      return channels;
    },
    readBalance,
    /** Old ones finish, then close; unchanged providers stay: thousands of handshakes would delay polls. */
    replace(next: Settings, farewells: readonly ReadonlyMap<string, Message>[] = []): void {
      for (const { name, send, opened } of channels) {
        for (const farewell of farewells.flatMap((messages) => messages.get(name) ?? []))
          void send(farewell, new AbortController().signal);
        opened.closeAfterUse();
      }
      const isSame = textOf(next) === textOf(settings);
      settings = next;
      channels = openAll();
      if (isSame) return;
      const replaced = provider;
      provider = drained(openProvider(settings));
      replaced.closeAfterUse();
    },
    async close(): Promise<void> {
      await Promise.all([provider.target.close(), ...channels.map((channel) => channel.close())]);
    },
  };
}

function textOf(settings: Settings): string {
  return entriesOf(settings).map(entryText).join('\n');
}

/** Finishes its running work before it closes: a cut poll would fail, and a cut delivery would be sent twice. */
function drained<Target extends Provider | Channel>(target: Target) {
  let running = 0;
  let isReplaced = false;
  return {
    target,
    /** The work never rejects. */
    async during<T>(work: Promise<T>): Promise<T> {
      running += 1;
      const result = await work;
      running -= 1;
      if (isReplaced && running === 0) void target.close();
      return result;
    },
    closeAfterUse(): void {
      isReplaced = true;
      if (running === 0) void target.close();
    },
  };
}
