import { Client, type Dispatcher } from 'undici';

export interface OriginRequest extends Dispatcher.DispatchOptions {
  readonly origin: string;
}

/**
 * Kept connections, by origin. Each request has one of its own while it runs, as many as it takes; the one
 * that came free last goes first, so that no more stay warm than are needed at once.
 *
 * undici's own pool looks through all of its connections for a free one, twice for each request: with some
 * hundreds under way that costs more than the requests themselves. Here the free ones are known.
 */
export class WarmClients {
  readonly #options: Client.Options;
  readonly #all: Client[] = [];
  readonly #free = new Map<string, Client[]>();
  #ended = false;

  constructor(options: Client.Options) {
    this.#options = { ...options, pipelining: 1, allowH2: false };
  }

  dispatch(request: OriginRequest, handler: Dispatcher.DispatchHandler): void {
    const client = this.#free.get(request.origin)?.pop() ?? this.#open(request.origin);
    // It has one request at a time and is busy from now on, until it says `drain`; unless the request was held back.
    if (client.dispatch(request, handler)) this.#free.get(request.origin)?.push(client);
  }

  /** Ends every connection at once; requests from now on fail. */
  async destroy(): Promise<void> {
    this.#ended = true;
    await Promise.all(this.#all.map((client) => client.destroy()));
  }

  #open(origin: string): Client {
    const client = new Client(origin, this.#options);
    if (this.#ended) void client.destroy();
    const free = this.#free.get(origin) ?? [];
    this.#free.set(origin, free);
    this.#all.push(client);
    client.on('drain', () => free.push(client));
    return client;
  }
}
