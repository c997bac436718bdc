import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { RequestError } from './reply.ts';

/** One request, as handlers see it. */
export interface Call {
  /** `HEAD` arrives as `GET`; the server leaves the body out. */
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** Decoded segments of the path, by the names in the route's pattern. */
  readonly params: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  /** Of the peer, which may be a proxy. */
  readonly address: string;
  readonly signedIn: boolean;
  /** An instant read once for the whole request. */
  readonly now: number;
  /**
   * The JSON body; undefined where there is none. Refuses other media types, other bodies than JSON, and
   * large ones.
   */
  readonly readJson: () => Promise<unknown>;
  /** The fields of a form. */
  readonly readForm: () => Promise<URLSearchParams>;
}

/** Reads bodies of one request, never more than `maxBytes` of them. */
export function bodyReaders(request: IncomingMessage, maxBytes: number): Pick<Call, 'readJson' | 'readForm'> {
  return {
    readJson: async () => {
      const body = await readBody(request, maxBytes);
      if (body.length === 0) return undefined;
      requireMediaType(request.headers, 'application/json');
      return parseJson(body.toString('utf8'));
    },
    readForm: async () => {
      requireMediaType(request.headers, 'application/x-www-form-urlencoded');
      return new URLSearchParams((await readBody(request, maxBytes)).toString('utf8'));
    },
  };
}

function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
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

function requireMediaType(headers: IncomingHttpHeaders, wanted: string): void {
  const given = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase();
  if (given !== wanted) throw new RequestError('unsupported_media_type', `The body must be ${wanted}.`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own words quote the body.
    throw new RequestError('bad_request', 'The body is not JSON.');
  }
}
