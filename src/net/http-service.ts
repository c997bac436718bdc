import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ServiceAddress {
  /** 0 takes any free port. */
  readonly port: number;
  readonly host: string;
}

/** Larger request bodies are not read. */
const maxBodyBytes = 64 * 1024;

/** Long enough for clients that keep connections warm. */
const keepAliveMs = 75_000;

export type HttpService = Awaited<ReturnType<typeof startHttpService>>;

/** An HTTP server that reads each request whole; the body is null if it was too large. Rejects if it cannot listen on the address. */
export async function startHttpService(
  { port, host }: ServiceAddress,
  serve: (request: IncomingMessage, response: ServerResponse, body: string | null) => void,
) {
  const server = createServer({ keepAliveTimeout: keepAliveMs }, (request, response) => {
    readBody(request, (body) => serve(request, response, body));
  });
  server.listen(port, host);
  await once(server, 'listening');
  // A cast is safe: a server that listens on a TCP port has such an address.
  const bound = (server.address() as AddressInfo).port;
  return {
    server,
    /** For `baseUrl` of an entry. */
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    port: bound,
    /** Ends every connection at once, hanging ones included. */
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Reads to the end in any case, because a client that still writes would not see the answer. */
function readBody(request: IncomingMessage, done: (body: string | null) => void): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= maxBodyBytes) chunks.push(chunk);
  });
  request.on('end', () => done(bytes > maxBodyBytes ? null : Buffer.concat(chunks).toString()));
}
