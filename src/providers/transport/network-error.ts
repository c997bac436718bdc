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

export interface NetworkFailure {
  readonly kind: 'network_error' | 'invalid_response';
  readonly reason: string;
}

/** undici's parser errors have no code of their own, and hold a piece of the answer that must go nowhere. */
const notHttp: NetworkFailure = { kind: 'invalid_response', reason: 'the answer is not HTTP' };

/** undici ends the connection on a 100 that it did not ask for, and says so in the text alone. */
const interimAnswer: NetworkFailure = {
  kind: 'invalid_response',
  reason: 'the server sent HTTP 100 or 101, which was not asked for',
};

function isInterimAnswer(error: unknown): boolean {
  return error instanceof Error && /^bad (?:response|upgrade)$/.test(error.message);
}

/**
 * What to tell people about an error below HTTP. Goes by the error's code alone, through its causes: messages
 * of errors quote addresses, and those may hold passwords.
 */
export function explainNetworkError(error: unknown): NetworkFailure {
  if (error instanceof Error && error.name === 'HTTPParserError') return notHttp;
  const codes = errorCodes(error);
  if (isInterimAnswer(error)) return interimAnswer;
  const known = explainConnectError(codes) ?? codes.map((code) => reasons[code]).find(Boolean);
  if (known !== undefined) return { kind: 'network_error', reason: known };
  const [code] = codes;
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH')
    return { kind: 'invalid_response', reason: 'the answer contradicts its own Content-Length' };
  if (code === undefined) return { kind: 'network_error', reason: 'the connection failed' };
  if (code === 'UND_ERR_HEADERS_OVERFLOW')
    return { kind: 'invalid_response', reason: 'the headers of the answer are too large' };
  if (/^(?:ERR_SSL|EPROTO)/.test(code))
    return { kind: 'network_error', reason: `TLS: the handshake failed (${code})` };
  return { kind: 'network_error', reason: `the connection failed (${code})` };
}
