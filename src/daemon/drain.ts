import type { Channel } from '../ports/channel.ts';
import type { Provider } from '../ports/provider.ts';

export interface Replaceable {
  /** Closes it after its running work; it gets no new work. */
  closeAfterUse(): void;
}

/** A provider that finishes its polls before it closes: a reload must not fail them. */
export function replaceableProvider(provider: Provider): Provider & Replaceable {
  const uses = new InFlight(() => provider.close());
  return {
    readBalance: (...order) => uses.during(provider.readBalance(...order)),
    close: () => provider.close(),
    closeAfterUse: () => uses.closeAfterLast(),
  };
}

/** A channel that finishes its delivery before it closes: a cut delivery would be sent twice. */
export function replaceableChannel(channel: Channel): Channel & Replaceable {
  const uses = new InFlight(() => channel.close());
  return {
    ...channel,
    send: (message, signal) => uses.during(channel.send(message, signal)),
    close: () => channel.close(),
    closeAfterUse: () => uses.closeAfterLast(),
  };
}

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
