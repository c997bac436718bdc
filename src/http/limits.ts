import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { RequestError } from './refusal.ts';

/**
 * Keeps at most `most` connections. One more takes the place of that which has owed us a request, or the rest of
 * one, for longest: who holds connections without asking cannot keep the others out. Where all wait for an
 * answer of ours, the new one is dropped.
 */
export function makeRoom(server: Server, most: number): void {
  // In the order of their last answer, with the request that each is about.
  const connections = new Map<Socket, IncomingMessage | null>();
  server.on('connection', (socket) => {
    if (connections.size >= most) {
      const owing = connections.entries().find(([, request]) => request === null || !request.complete);
      const [leaving] = owing ?? [socket];
      connections.delete(leaving);
      leaving.destroy();
    }
    if (socket.destroyed) return;
    connections.set(socket, null);
    socket.once('close', () => connections.delete(socket));
  });
  server.on('request', (request, response) => {
    const { socket } = request;
    connections.set(socket, request);
    response.once('close', () => {
      if (connections.get(socket) !== request) return;
      connections.delete(socket);
      if (!socket.destroyed) connections.set(socket, null);
    });
  });
}

/** Reads a whole body of at most `maxBytes`; refuses a larger one without holding it. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const refuse = (): void => {
      // The rest flows by unread until the answer has closed the connection: a cut would take the answer along.
      request.off('data', take).resume();
      const message = `The body may have at most ${maxBytes} bytes.`;
      reject(new RequestError('too_large', message, { connection: 'close' }));
    };
    const take = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > maxBytes) refuse();
      else chunks.push(chunk);
    };
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) return refuse();
    request.on('data', take);
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.once('error', reject);
  });
}
