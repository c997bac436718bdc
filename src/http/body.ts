import type { IncomingMessage } from 'node:http';
import { RequestError } from './refusal.ts';

/** Reads a whole body of at most `maxBytes`; refuses a larger one without holding it. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const refuse = (): void => {
      // The rest flows by unread until the answer has closed the connection: a cut would take the answer along.
      request.off('data', take).resume();
      reject(
        new RequestError('too_large', `The body may have at most ${maxBytes} bytes.`, {
          connection: 'close',
        }),
      );
    };
    const take = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > maxBytes) refuse();
      else chunks.push(chunk);
    };
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) {
      refuse();
      return;
    }
    request.on('data', take);
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.once('error', reject);
  });
}
