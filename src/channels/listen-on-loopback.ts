import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo, Server as NetServer } from 'node:net';
import type { DemoReceiver, ReceivedMessage } from './demo-receiver.ts';

const largestBody = 1024 * 1024;

/** A receiver of JSON by POST, which answers as the real one does when it takes a message. */
export function receivePosts(it: {
  /** The channel that sends to this address. */
  readonly channel: (origin: string) => object;
  readonly show: (body: string) => ReceivedMessage;
  readonly answer: { readonly status: number; readonly body: string };
}): DemoReceiver {
  return {
    async listen(received) {
      const server = createServer((request, response) => {
        void readBody(request).then((body) => {
          received(it.show(body));
          response.writeHead(it.answer.status, { 'content-type': 'application/json' }).end(it.answer.body);
        });
      });
      const port = await listen(server);
      return { channel: it.channel(`http://127.0.0.1:${port}`), close: () => close(server) };
    },
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size <= largestBody) chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString();
}

/** Lets a server listen on this machine and gives its port: the one asked for, or a free one. */
export function listen(server: NetServer, port = 0): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      // A server that listens on TCP has such an address.
      resolve((server.address() as AddressInfo).port);
    });
  });
}

export function close(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
