import type { Message } from '../domain/message.ts';
import { entriesOf, entryText } from '../domain/provider-entry.ts';
import { receiversOf, type Settings } from '../domain/settings.ts';
import type { Channel } from '../ports/channel.ts';
import type { Provider } from '../ports/provider.ts';
import { type FarewellDependencies, FarewellSender } from './farewell-sender.ts';

export interface ConnectionDependencies {
  readonly openProvider: (settings: Settings) => Provider;
  readonly openChannels: (settings: Settings) => readonly Channel[];
}

export type Connections = ReturnType<typeof createConnections>;

export function createConnections(
  { openProvider, openChannels, ...dependencies }: ConnectionDependencies & FarewellDependencies,
  first: Settings,
) {
  const farewellSender = new FarewellSender(dependencies);
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
    farewellSender,
    /** Old connections finish, then close. Unchanged providers stay connected: thousands of handshakes would delay polls. */
    replace(next: Settings, farewells: readonly ReadonlyMap<string, Message>[] = []): void {
      const receivers = receiversOf(settings.channels);
      farewellSender.callOff(new Set(receiversOf(next.channels).values()));
      for (const { name, opened } of channels) {
        const messages = farewells.flatMap((all) => all.get(name) ?? []);
        if (messages.length > 0) {
          const receiver = receivers.get(name) ?? '';
          void opened.during(farewellSender.say(opened.target, receiver, messages, opened.idle()));
        }
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

/** Closes a connection only after its running work: a cut poll would fail, and a cut delivery would be sent twice. */
function drained<Target extends Provider | Channel>(target: Target) {
  const running = new Set<Promise<unknown>>();
  let isReplaced = false;
  return {
    target,
    /** The work never rejects. */
    async during<T>(work: Promise<T>): Promise<T> {
      running.add(work);
      const result = await work;
      running.delete(work);
      if (isReplaced && running.size === 0) void target.close();
      return result;
    },
    /** Resolves once all work that runs now has ended. */
    idle: () => Promise.all(running),
    closeAfterUse(): void {
      isReplaced = true;
      if (running.size === 0) void target.close();
    },
  };
}
