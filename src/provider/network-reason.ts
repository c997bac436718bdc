/** Sentences for people, by the code of the error. Certificates have one each: each has another remedy. */
const reasons: Readonly<Record<string, string>> = {
  ENOTFOUND: 'the host name of the provider does not exist (DNS)',
  EAI_AGAIN: 'the host name of the provider cannot be looked up at the moment (DNS)',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  ECONNABORTED: 'the connection was aborted',
  EPIPE: 'the connection was closed while sending',
  ETIMEDOUT: 'the connection timed out',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  EMFILE: 'this process has no file descriptor left for a connection',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
  UND_ERR_SOCKET: 'the connection was closed before the answer was complete',
  UND_ERR_DESTROYED: 'lowwater is stopping',
  UND_ERR_CLOSED: 'lowwater is stopping',
  CERT_HAS_EXPIRED: 'TLS: the certificate of the server has expired (or the clock of this machine is wrong)',
  CERT_NOT_YET_VALID:
    'TLS: the certificate of the server is not valid yet (or the clock of this machine is wrong)',
  CERT_REVOKED: 'TLS: the certificate of the server was revoked',
  ERR_TLS_CERT_ALTNAME_INVALID: 'TLS: the certificate of the server is for another host name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'TLS: the certificate of the server is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN:
    'TLS: the certificate comes from a private CA that is not trusted here (NODE_EXTRA_CA_CERTS names one)',
  UNABLE_TO_GET_ISSUER_CERT:
    'TLS: the certificate comes from an unknown CA (NODE_EXTRA_CA_CERTS names a private one)',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    'TLS: the certificate comes from an unknown CA (NODE_EXTRA_CA_CERTS names a private one)',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'TLS: the certificate comes from an unknown CA (NODE_EXTRA_CA_CERTS names a private one)',
  ERR_SSL_WRONG_VERSION_NUMBER: 'TLS: the server does not speak TLS at this address',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'TLS: the server does not speak TLS at this address',
};

/** How the exchange failed. An answer that came and is no HTTP is invalid; all else is the network's. */
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
  const codes = collectCodes(error);
  if (isInterimAnswer(error)) return interimAnswer;
  const known = codes.find((code) => Object.hasOwn(reasons, code));
  if (known !== undefined) return { kind: 'network_error', reason: reasons[known] ?? known };
  const [code] = codes;
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH')
    return { kind: 'invalid_response', reason: 'the answer contradicts its own Content-Length' };
  if (code === undefined) return { kind: 'network_error', reason: 'the connection failed' };
  if (code === 'UND_ERR_HEADERS_OVERFLOW')
    return { kind: 'invalid_response', reason: 'the headers of the answer are too large' };
  if (/^(?:ERR_SSL|ERR_TLS|CERT|EPROTO)/.test(code))
    return { kind: 'network_error', reason: `TLS: the handshake failed (${code})` };
  return { kind: 'network_error', reason: describeUnknown(error, code) };
}

/** Codes of the error and its causes, innermost first: a proxy's error wraps the real one. */
function collectCodes(error: unknown): readonly string[] {
  const codes: string[] = [];
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth += 1) {
    const code: unknown = Reflect.get(cause, 'code');
    if (typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(code)) codes.unshift(code);
  }
  return codes;
}

function describeUnknown(error: unknown, code: string): string {
  // undici tells the proxy's refusal of a tunnel, or its demand for a password, in the text alone.
  const status = error instanceof Error ? /^Proxy .*\((\d{3})\)/.exec(error.message)?.[1] : undefined;
  return status === undefined
    ? `the connection failed (${code})`
    : `the proxy refused the connection: HTTP ${status}`;
}
