import { ownOf } from '../domain/own.ts';
import { sentences } from '../wording/phrase.ts';

const unknownAuthority =
  'TLS: the certificate comes from an unknown CA (NODE_EXTRA_CA_CERTS names a private one)';

/** Codes of errors after which surely nothing was sent. Each error of a certificate has its own text, because each has its own remedy. */
const reasons = sentences('connect', {
  ENOTFOUND: 'the host name does not exist (DNS)',
  EAI_AGAIN: 'the host name cannot be looked up at the moment (DNS)',
  ECONNREFUSED: 'the connection was refused',
  EMFILE: 'this process has no file descriptor left for a connection',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  UND_ERR_PRX_CONN: 'the proxy closed the connection',
  PROXY_FAILED: 'the proxy made no connection',
  // undici has this limit only for the answer of a proxy.
  UND_ERR_HEADERS_TIMEOUT: 'the proxy made no connection in time',
  CERT_HAS_EXPIRED: 'TLS: the certificate of the server has expired (or the clock of this machine is wrong)',
  CERT_NOT_YET_VALID:
    'TLS: the certificate of the server is not valid yet (or the clock of this machine is wrong)',
  CERT_REVOKED: 'TLS: the certificate of the server was revoked',
  ERR_TLS_CERT_ALTNAME_INVALID: 'TLS: the certificate of the server is for another host name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'TLS: the certificate of the server is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN:
    'TLS: the certificate comes from a private CA that is not trusted here (NODE_EXTRA_CA_CERTS names one)',
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  // Every error of a certificate that Node has no name for.
  UNSPECIFIED:
    'TLS: the certificate of the server is refused: its key or its signature is too weak, or it breaks a rule of its CA',
  // In TLS 1.3 the client finishes first, and may have sent by then. The server takes nothing before it has the certificate.
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED:
    'TLS: the server asks for a client certificate, and lowwater has none',
  ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL: 'TLS: the server does not speak HTTP/1.1',
  HANDSHAKE_ENDED: 'TLS: the server ended the connection in the handshake',
  ERR_SSL_WRONG_VERSION_NUMBER: 'TLS: the server does not speak TLS at this address',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'TLS: the server does not speak TLS at this address',
});
const said = sentences('handshake', {
  proxyRefused: 'the proxy refused the connection: HTTP {status}',
  socksFailed: 'the SOCKS proxy made no connection ({code})',
  failed: 'TLS: the handshake failed ({code})',
  stopping: 'given up because lowwater is stopping',
});
export const sayHandshakeFailed = said.failed;
export const sayStopping = said.stopping;

/**
 * Alerts that answer the first message of a handshake, and errors that are found here in the server's first message: all others may come
 * after something was sent.
 */
const endsHandshake =
  /^(?:ERR_TLS|CERT|UNABLE_TO|INVALID_(?:CA|PURPOSE)$|PATH_LENGTH_EXCEEDED$|ERROR_IN_CERT)|^ERR_SSL_(?:UNSUPPORTED_PROTOCOL|DH_KEY_TOO_SMALL|.*_(?:ALERT_HANDSHAKE_FAILURE|ALERT_PROTOCOL_VERSION|UNRECOGNIZED_NAME))$/;

/** The reason why there is no connection, by the codes of an error; undefined if something may have been sent. */
export function explainConnectError(codes: readonly string[]): string | undefined {
  const known = codes.map((code) => ownOf(reasons, code)).find(Boolean);
  if (known !== undefined) return known();
  const status = codes.map((code) => /^PROXY_(\d{3})$/.exec(code)?.[1]).find(Boolean);
  if (status !== undefined) return said.proxyRefused({ status });
  const socks = codes.find((code) => code.startsWith('UND_ERR_SOCKS5'));
  if (socks !== undefined) return said.socksFailed({ code: socks });
  const tls = codes.find((code) => endsHandshake.test(code));
  return tls === undefined ? undefined : said.failed({ code: tls });
}

const failedTunnels = new WeakSet<Error>();

/** Marks the error of a CONNECT request, and throws it again: without the mark it looks like that of a request sent through the tunnel. */
export function noteFailedTunnel(error: unknown): never {
  if (error instanceof Error) failedTunnels.add(error);
  throw error;
}

/** Codes along the chain of causes, innermost first; aggregated errors of several addresses included. */
export function errorCodes(error: unknown): readonly string[] {
  const codes: string[] = [];
  const queue: unknown[] = [error];
  for (let step = 0; step < 20 && queue.length > 0; step += 1) {
    const next = queue.shift();
    if (!(next instanceof Error)) continue;
    if (failedTunnels.has(next)) codes.push('PROXY_FAILED');
    if ('code' in next && typeof next.code === 'string' && /^[A-Z][A-Z0-9_/]{1,60}$/.test(next.code))
      codes.unshift(next.code);
    // Only undici's text says that the proxy refused or wants a password, and only Node's that a handshake was ended.
    const status = /^Proxy .*\((\d{3})\)/.exec(next.message)?.[1];
    if (status !== undefined) codes.unshift(`PROXY_${status}`);
    if (/ before secure TLS connection was established$/.test(next.message)) codes.unshift('HANDSHAKE_ENDED');
    if (next instanceof AggregateError) queue.push(...next.errors);
    queue.push(next.cause);
  }
  return codes;
}
