import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { nextTurn } from '../daemon/slices.ts';
import { RequestError, refusals } from './refusal.ts';

/**
 * Keeps at most `most` connections. A new one takes the place of the one that has waited longest: for a request of the client, for its
 * rest, or for the client to read an answer. So clients that hold connections without asking or reading cannot keep others out. If all
 * connections wait for answers of this server, the new one is dropped.
 */
export function makeRoom(server: Server, most: number): void {
  // In the order of their last answer, each with the answer that is under way.
  const connections = new Map<Socket, ServerResponse<IncomingMessage> | null>();
  server.on('connection', (socket) => {
    if (connections.size >= most) {
      // The client owes a request, the rest of one, or the reading of an answer.
      const owing = connections
        .entries()
        .find(([held, about]) => about === null || !about.req.complete || held.writableLength > 0);
      const [leaving] = owing ?? [socket];
      connections.delete(leaving);
      leaving.destroy();
    }
    if (socket.destroyed) return;
    connections.set(socket, null);
    socket.once('close', () => connections.delete(socket));
  });
  server.on('request', ({ socket }, response) => {
    connections.set(socket, response);
    response.once('close', () => {
      if (connections.get(socket) !== response) return;
      connections.delete(socket);
      if (!socket.destroyed) connections.set(socket, null);
    });
  });
}

/** The most requests that may wait for others to be answered: one more ends its connection. */
const maxWaiting = 1000;
/** The most bytes of answers that all clients together may leave unread. */
const maxUnreadBytes = 32 * 1024 * 1024;

/** Answers one request in each turn of the event loop, and on each connection only after the last answer was read: polls and probes stay on time. */
export class AnswerQueue {
  readonly #last = new WeakMap<Socket, Promise<void>>();
  readonly #unread = new Set<ServerResponse>();
  #turn: Promise<void> = Promise.resolve();
  #waiting = 0;

  /** `answer` never throws. `isProbe`: the request waits for its own connection only. */
  take(
    { socket }: IncomingMessage,
    response: ServerResponse,
    { answer, isProbe }: { readonly answer: () => Promise<void>; readonly isProbe: boolean },
  ): void {
    if (socket.destroyed) return;
    const before = this.#last.get(socket);
    if (isProbe && before === undefined) return void answer();
    if (this.#waiting >= maxWaiting) return void socket.destroy();
    this.#waiting += 1;
    const ended = this.#answer(response, before, answer).then(() => {
      if (this.#last.get(socket) === ended) this.#last.delete(socket);
    });
    this.#last.set(socket, ended);
  }

  async #answer(
    response: ServerResponse,
    before: Promise<void> | undefined,
    answer: () => Promise<void>,
  ): Promise<void> {
    await before;
    this.#turn = this.#turn.then(() => nextTurn());
    await this.#turn;
    this.#waiting -= 1;
    if (response.destroyed) return;
    const closed = new Promise((resolve) => response.once('close', resolve));
    this.#unread.add(response);
    this.#cutUnread();
    await answer();
    await closed;
    this.#unread.delete(response);
  }

  /** Cuts the answers that have waited longest for their reader. */
  #cutUnread(): void {
    let bytes = 0;
    for (const response of [...this.#unread].reverse()) {
      bytes += response.writableLength;
      if (bytes > maxUnreadBytes && response.writableLength > 0) response.destroy();
    }
  }
}

/** Reads a whole body of at most `maxBytes`. Refuses a larger one without keeping it in memory. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const refuse = (): void => {
      // The rest is read and dropped until the answer has closed the connection: cutting it would lose the answer.
      request.off('data', take).resume();
      const message = refusals.tooLarge({ bytes: maxBytes });
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
