import type { Socket } from 'node:net';
import { Agent, buildConnector, EnvHttpProxyAgent } from 'undici';
import { minuteMs } from '../domain/time.ts';
import type { Clock } from '../ports/clock.ts';
import { noteFailedTunnel } from './connect-error.ts';
import { attemptMs, nameLookup } from './name-lookup.ts';
import { isAmong } from './network.ts';
import { type Environment, readProxyVariables } from './proxy-variables.ts';

/**
 * No connection is used for longer: its name may have moved while the old server still answers, and the certificate that it was
 * made with may have expired.
 */
export const maxConnectionAgeMs = 10 * minuteMs;

/**
 * Options of every connection over HTTP: names are looked up without the thread pool, certificates are always verified
 * (said explicitly, so that `NODE_TLS_REJECT_UNAUTHORIZED` changes nothing). HTTP/2 is off: a connection carries one
 * exchange at a time, and the simpler protocol tells a refused connection from a lost one.
 */
function connectOptions(clock: Clock, timeout: number) {
  // undici passes options that it does not know to `net.connect` and `tls.connect`.
  return {
    rejectUnauthorized: true,
    // A resumed session verifies no certificate: a certificate that expired meanwhile would be good for ever.
    maxCachedSessions: 0,
    allowH2: false,
    lookup: nameLookup(clock),
    autoSelectFamilyAttemptTimeout: attemptMs(timeout),
  } as const;
}

/** Makes connections on which an unasked `100 Continue` does no harm. Connections through a proxy are made by undici itself. */
export function createConnector(clock: Clock, timeout: number): buildConnector.connector {
  const connect = buildConnector({ ...connectOptions(clock, timeout), timeout });
  return (target, done) =>
    connect(target, (...[error, socket]) => {
      if (!socket) {
        done(error ?? new Error('neither a connection nor an error'), null);
        return;
      }
      ignoreContinue(socket);
      done(null, socket);
    });
}

/** Connections through the proxies that `readProxyVariables` finds; null if there are none. */
export function openProxied(
  clock: Clock,
  environment: Environment,
  { timeout, ...settings }: Agent.Options & { readonly timeout: number },
): Agent | null {
  const proxies = readProxyVariables(environment);
  if (proxies === null) return null;
  const { httpsProxy, httpProxy, noProxy } = proxies;
  const verified = connectOptions(clock, timeout);
  const through = (proxy: string, host: string): EnvHttpProxyAgent =>
    new EnvHttpProxyAgent({
      ...settings,
      clientTtl: maxConnectionAgeMs,
      httpsProxy: proxy,
      httpProxy: proxy,
      // undici takes names and addresses; networks stand there as well for curl and others.
      noProxy: isAmong(noProxy.split(/[\s,]+/), host) ? '*' : noProxy,
      allowH2: false,
      connect: { ...verified, timeout },
      connectTimeout: timeout,
      // A proxy that never answers would hold each tunnel for undici's five minutes.
      clientFactory: (_proxy, options) => new TunnelAgent({ ...options, headersTimeout: timeout }),
      requestTls: verified,
      // undici would speak TLS to a SOCKS proxy if `proxyTls` were given.
      ...(/^socks/i.test(proxy) ? credentialsIn(proxy) : { proxyTls: verified }),
    });
  // undici has one set of settings for both proxies, of which one may speak SOCKS.
  return new Agent({
    factory: (origin) => {
      const { protocol, hostname } = new URL(origin);
      return through(protocol === 'https:' ? httpsProxy || httpProxy : httpProxy, hostname);
    },
  });
}

/** Connections to a proxy. A CONNECT request that fails has sent nothing through a tunnel. */
class TunnelAgent extends Agent {
  override connect(...given: Parameters<Agent['connect']>): ReturnType<Agent['connect']> {
    return super.connect(...given).catch(noteFailedTunnel);
  }
}

/** The decoded credentials: undici would send them to a SOCKS proxy as they stand in the address, `%40` for an `@`. */
function credentialsIn(proxy: string) {
  const { username, password } = new URL(proxy);
  return { username: decodeURIComponent(username), password: decodeURIComponent(password) };
}

const continueStart = 'HTTP/1.1 100';
const headEnd = '\r\n\r\n';
/** A longer head is not that of a `100 Continue`. */
const maxHeadBytes = 4096;

/**
 * A client may ignore a `100 Continue` that it did not ask for (RFC 9110, 15.2); undici ends the connection instead. So it is removed from
 * what undici reads. Each answer begins with a chunk of its own, because a request is sent only after the previous one is answered.
 */
function ignoreContinue(socket: Socket): void {
  const read = socket.read.bind(socket);
  let held: Buffer | null = null;
  socket.read = (size?: number): Buffer | null => {
    for (;;) {
      const chunk: Buffer | null = read(size);
      if (chunk === null) return null;
      const bytes: Buffer = held === null ? chunk : Buffer.concat([held, chunk]);
      const { rest, isIncomplete } = withoutContinue(bytes);
      held = isIncomplete ? rest : null;
      if (!isIncomplete && rest.length > 0) return rest;
    }
  };
}

function withoutContinue(bytes: Buffer): { readonly rest: Buffer; readonly isIncomplete: boolean } {
  let rest = bytes;
  while (isPrefix(rest)) {
    const end = rest.indexOf(headEnd);
    if (end < 0) return { rest, isIncomplete: rest.length < maxHeadBytes };
    rest = rest.subarray(end + headEnd.length);
  }
  return { rest, isIncomplete: false };
}

/** Whether the bytes so far begin like a `100 Continue`. An answer that stops within the first word waits for more. */
function isPrefix(bytes: Buffer): boolean {
  const start = bytes.subarray(0, continueStart.length).toString('latin1');
  return start.length > 0 && continueStart.startsWith(start);
}
