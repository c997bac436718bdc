import { errorCodes, explainConnectError } from '../../net/connect-error.ts';

/** What ends a connection, or keeps this process from making one, as sentences for people. */
const reasons: Readonly<Record<string, string>> = {
  ECONNRESET: 'the connection was reset',
  ECONNABORTED: 'the connection was aborted',
  EPIPE: 'the connection was closed while sending',
  ETIMEDOUT: 'the connection timed out',
  EMFILE: 'this process has no file descriptor left for a connection',
  UND_ERR_SOCKET: 'the connection was closed before the answer was complete',
  UND_ERR_DESTROYED: 'lowwater is stopping',
  UND_ERR_CLOSED: 'lowwater is stopping',
};

/** How the exchange failed. An answer that came and is no HTTP is invalid; all else is the network's. */
interface NetworkFailure {
  readonly kind: 'network_error' | 'invalid_response';
  readonly reason: string;
}

/** What to tell people about an error below HTTP, by its codes alone: messages quote addresses, which may hold passwords. */
export function explainNetworkError(error: unknown): NetworkFailure {
  const invalid = (reason: string): NetworkFailure => ({ kind: 'invalid_response', reason });
  const failed = (reason: string): NetworkFailure => ({ kind: 'network_error', reason });
  const { name, message } = error instanceof Error ? error : new Error();
  // undici's parser errors have no code of their own, and hold a piece of the answer that must go nowhere.
  if (name === 'HTTPParserError') return invalid('the answer is not HTTP');
  // undici ends the connection on a 100 that it did not ask for, and says so in the text alone.
  if (/^bad (?:response|upgrade)$/.test(message))
    return invalid('the server sent HTTP 100 or 101, which was not asked for');
  const codes = errorCodes(error);
  const known = explainConnectError(codes) ?? codes.map((code) => reasons[code]).find(Boolean);
  if (known !== undefined) return failed(known);
  const [code] = codes;
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH')
    return invalid('the answer contradicts its own Content-Length');
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return invalid('the headers of the answer are too large');
  if (code === undefined) return failed('the connection failed');
  const isTls = /^(?:ERR_SSL|EPROTO)/.test(code);
  return failed(isTls ? `TLS: the handshake failed (${code})` : `the connection failed (${code})`);
}
