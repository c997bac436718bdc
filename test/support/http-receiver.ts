import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedPost {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface HttpReceiver {
  readonly url: string;
  readonly port: number;
  readonly received: readonly ReceivedPost[];
  close(): Promise<void>;
}

/** A real HTTP server on loopback that keeps what it gets; `answer` decides what each request meets. */
export async function startHttpReceiver(
  answer: (response: ServerResponse, post: ReceivedPost, count: number) => void,
): Promise<HttpReceiver> {
  const received: ReceivedPost[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => {
      const post = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body };
      received.push(post);
      answer(response, post, received.length);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/services/T000/B000/very-secret-token`,
    port,
    received,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
