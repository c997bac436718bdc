import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Server as NetServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { keyOf } from '../domain/json.ts';

/** What a receiver of the demo shows of a message. */
export interface ReceivedMessage {
  /** Where it arrived, such as "Slack #ops". */
  readonly title: string;
  readonly lines: readonly string[];
}

/** A receiver on this machine that hands on what it gets, for the demo. */
export interface DemoReceiver {
  listen(received: (message: ReceivedMessage) => void): Promise<ListeningReceiver>;
}

export interface ListeningReceiver {
  /** The channel that sends to it, as it would stand in a configuration. */
  readonly channel: object;
  close(): Promise<void>;
}

/** A receiver of JSON by POST, which answers as the real one does when it takes a message. */
export function receivePosts(receiver: {
  /** The channel that sends to this address. */
  readonly channel: (origin: string) => object;
  readonly show: (body: string) => ReceivedMessage;
  readonly answer: { readonly status: number; readonly body: string };
}): DemoReceiver {
  return {
    async listen(received) {
      const server = createServer((request, response) => {
        void text(request).then((body) => {
          received(receiver.show(body));
          response
            .writeHead(receiver.answer.status, { 'content-type': 'application/json' })
            .end(receiver.answer.body);
        });
      });
      const port = await listen(server);
      return { channel: receiver.channel(`http://127.0.0.1:${port}`), close: () => close(server) };
    },
  };
}

/** Lets a server listen on this machine and gives its port: the one asked for, or a free one. */
export async function listen(server: NetServer, port = 0): Promise<number> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  // A server that listens on TCP has such an address.
  return (server.address() as AddressInfo).port;
}

export function close(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

/**
 * What a person reads of a card, as lines: its texts in their order, names with their values, links as buttons. Every receiver of cards
 * calls these alike; the rest of its JSON is left out.
 */
export function readCard(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) {
    const isLinks = value.length > 0 && value.every((each) => typeof keyOf(each, 'url') === 'string');
    return isLinks ? [value.map((link) => `[${readText(link)}]`).join(' ')] : value.flatMap(readCard);
  }
  const { title, value: figure } = { title: null, value: null, ...value };
  if (typeof title === 'string' && typeof figure === 'string') return [`${title}: ${figure}`];
  return Object.entries(value).flatMap(([key, each]) =>
    ['text', 'content'].includes(key) && typeof each === 'string'
      ? each.replace(/^\*+([^*\n]+)\*+\n/, '$1: ').split(/\n+/)
      : readCard(each),
  );
}

/** The label of a link. */
function readText(link: unknown): string {
  const title = keyOf(link, 'title');
  return typeof title === 'string' ? title : readCard(link).join(' ');
}
