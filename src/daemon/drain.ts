import type { Channel } from '../ports/channel.ts';
import type { Provider } from '../ports/provider.ts';

/** Something that a reload replaces while it is in use. */
export interface Replaceable {
  /** Closes it as soon as what it is doing has ended; it is given nothing new. */
  closeAfterUse(): void;
}

/** A provider that lets its polls finish before it goes: a reload is no failure of theirs. */
export function replaceableProvider(provider: Provider): Provider & Replaceable {
  const uses = new InFlight(() => provider.close());
  return {
    readBalance: (...order) => uses.during(provider.readBalance(...order)),
    close: () => provider.close(),
    closeAfterUse: () => uses.closeAfterLast(),
  };
}

/** A channel that lets its delivery finish before it goes: cut off, the message would be sent twice. */
export function replaceableChannel(channel: Channel): Channel & Replaceable {
  const uses = new InFlight(() => channel.close());
  return {
    ...channel,
    send: (message, signal) => uses.during(channel.send(message, signal)),
    close: () => channel.close(),
    closeAfterUse: () => uses.closeAfterLast(),
  };
}

/** Counts what is under way. */
class InFlight {
  readonly #close: () => Promise<void>;
  #running = 0;
  #replaced = false;

  constructor(close: () => Promise<void>) {
    this.#close = close;
  }

  during<T>(work: Promise<T>): Promise<T> {
    this.#running += 1;
    return work.finally(() => {
      this.#running -= 1;
      this.#closeIfDone();
    });
  }

  closeAfterLast(): void {
    this.#replaced = true;
    this.#closeIfDone();
  }

  #closeIfDone(): void {
    if (this.#replaced && this.#running === 0) void this.#close();
  }
}
