import type { IncomingHttpHeaders } from 'node:http';
import { formatDuration } from '../../domain/duration.ts';
import { createForeignTexts, type ForeignTexts } from '../../domain/foreign-text.ts';
import type { Outcome, OutcomeDetail } from '../../domain/outcome.ts';
import { maxProviderWaitMs, readRetryAfter } from '../../domain/retry-after.ts';
import type { AccountSettings } from '../../domain/settings.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Provider, SendingGuard } from '../../ports/provider.ts';
import { judgeAnswer } from '../account-service/envelope.ts';
import { type Connections, openConnections } from './connections.ts';
import { Exchange, type ExchangeEnd } from './exchange.ts';
import { Freshness } from './freshness.ts';
import { explainNetworkError } from './network-error.ts';
import { findTarget, type Target } from './target.ts';
import { pickUsageHeaders } from './usage-headers.ts';

export interface ProviderClientOptions {
  /** Deadline of a whole exchange: name lookup, connection, request and complete answer. */
  readonly timeoutMs: number;
  /** Allows `http://` to hosts other than this machine. */
  readonly allowInsecureHttp: boolean;
  readonly clock: Clock;
  /** Knows what the provider may echo and must go nowhere; secrets of accounts that are polled are added. */
  readonly texts?: ForeignTexts;
  /** Where the proxy variables are read from; the process' environment by default. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/**
 * A request whose connection turned out to be dead on arrival never reached the provider: it is sent again,
 * at most this often in all.
 */
const maxAttempts = 3;

const requestHeaders = [
  'content-type',
  'application/json',
  'accept',
  'application/json',
  'user-agent',
  'lowwater',
  'cache-control',
  'no-store',
];

/** Where nobody counts: one request by itself. */
const unguarded: SendingGuard = () => 0;

const noUsage: Readonly<Record<string, string>> = {};

/**
 * The provider over HTTP. Each failure is an outcome; nothing rejects. Redirects are never
 * followed, certificates always verified.
 *
 * Throws `ProxyVariableError` when a proxy variable of the environment holds no address.
 */
export function createProviderClient(options: ProviderClientOptions): Provider {
  const { timeoutMs, allowInsecureHttp, clock } = options;
  const connections = openConnections({
    clock,
    connectTimeoutMs: timeoutMs + 1000,
    environment: options.environment ?? process.env,
  });
  const texts = options.texts ?? createForeignTexts([]);
  const prepared = new WeakMap<AccountSettings, PreparedRequest>();
  const aborts = new AbortWatch();
  const freshness = new Freshness();

  function prepare(account: AccountSettings): PreparedRequest {
    const known = prepared.get(account);
    if (known !== undefined) return known;
    const secret = account.authSecret.reveal();
    const body = Buffer.from(JSON.stringify({ authSecret: secret }));
    texts.add(secret);
    const fresh = { body, target: findTarget(account.baseUrl, allowInsecureHttp) };
    prepared.set(account, fresh);
    return fresh;
  }

  return {
    async readBalance(account, signal, guard = unguarded) {
      const startedAt = clock.monotonic();
      const { body, target } = prepare(account);
      if (target.kind === 'refused') return failed({ kind: 'network_error', reason: target.reason });
      const end = await post({ connections, target, body, signal, guard, aborts, clock, timeoutMs });
      return outcomeOf(end, {
        account,
        freshness,
        texts,
        timeoutMs,
        now: clock.now(),
        durationMs: clock.monotonic() - startedAt,
      });
    },
    close: () => connections.close(),
  };
}

interface PreparedRequest {
  readonly body: Buffer;
  readonly target: Target;
}

interface Posting {
  readonly connections: Connections;
  readonly target: Target & { readonly kind: 'allowed' };
  readonly body: Buffer;
  readonly signal: AbortSignal;
  readonly guard: SendingGuard;
  readonly aborts: AbortWatch;
  readonly clock: Clock;
  readonly timeoutMs: number;
}

/** One request, sent again while it only met dead connections, under one deadline. */
function post({
  connections,
  target,
  body,
  signal,
  guard,
  aborts,
  clock,
  timeoutMs,
}: Posting): Promise<ExchangeEnd> {
  if (signal.aborted) return Promise.resolve({ kind: 'aborted' });
  const dispatcher = connections.to(target);
  const request = {
    origin: target.origin,
    path: target.path,
    method: 'POST',
    headers: requestHeaders,
    body,
  } as const;
  return new Promise((resolve) => {
    let attempts = 0;
    let exchange: Exchange | null = null;
    let cancelTimer = (): void => {};
    const end = (how: ExchangeEnd): void => {
      cancelTimer();
      aborts.delete(signal, abort);
      resolve(how);
    };
    const settle = (how: ExchangeEnd): void => {
      if (attempts < maxAttempts && metDeadConnection(how, connections)) send();
      else end(how);
    };
    const giveUp = (kind: 'timeout' | 'aborted'): void => (exchange ? exchange.giveUp(kind) : end({ kind }));
    const abort = (): void => giveUp('aborted');
    const attempt = (): void => {
      cancelTimer();
      cancelTimer = clock.setTimer(timeoutMs, () => giveUp('timeout'));
      send();
    };
    const send = (): void => {
      attempts += 1;
      exchange = new Exchange({ settle, guard, holdBack });
      dispatcher.dispatch(request, exchange);
    };
    // Nothing was sent, so this is no attempt, and its time has not begun.
    const holdBack = (waitMs: number): void => {
      attempts -= 1;
      exchange = null;
      cancelTimer();
      cancelTimer = clock.setTimer(waitMs, attempt);
    };
    aborts.add(signal, abort);
    attempt();
  });
}

/** A kept connection that the other side had closed meanwhile, and that brought no part of an answer. */
function metDeadConnection(end: ExchangeEnd, connections: Connections): boolean {
  return end.kind === 'failed' && !end.answerBegun && connections.wasDeadOnArrival(end.error);
}

interface EndedRequest {
  readonly account: AccountSettings;
  readonly freshness: Freshness;
  readonly texts: ForeignTexts;
  readonly timeoutMs: number;
  readonly now: number;
  readonly durationMs: number;
}

function outcomeOf(end: ExchangeEnd, ended: EndedRequest): Outcome {
  const { texts, timeoutMs, now, durationMs } = ended;
  switch (end.kind) {
    case 'answered':
    case 'unread': {
      const answer = end.kind === 'answered' ? end : { status: end.status, body: null, problem: end.problem };
      const detail = withRetryAfter(
        onlyIfFresh(judgeAnswer(answer, texts), end.headers, ended),
        end.headers,
        now,
      );
      return { ...detail, durationMs, usage: pickUsageHeaders(end.headers, texts) };
    }
    case 'timeout':
      return {
        ...failed({ kind: 'timeout', reason: `no complete answer within ${formatDuration(timeoutMs)}` }),
        durationMs,
      };
    case 'aborted':
      return { ...failed({ kind: 'network_error', reason: 'the request was given up' }), durationMs };
    case 'failed':
      return { ...failed(explainNetworkError(end.error)), durationMs };
  }
}

/** A good answer from a cache is no reading. */
function onlyIfFresh(
  detail: OutcomeDetail,
  headers: IncomingHttpHeaders,
  { account, freshness, now }: EndedRequest,
): OutcomeDetail {
  const reason = detail.kind === 'ok' ? freshness.problemOf(account, headers, now) : null;
  return reason === null ? detail : { kind: 'invalid_response', reason, status: 200 };
}

function withRetryAfter(detail: OutcomeDetail, headers: IncomingHttpHeaders, now: number): OutcomeDetail {
  if (detail.kind === 'ok') return detail;
  const retryAfterMs = readRetryAfter(headers, { now, maxMs: maxProviderWaitMs });
  return retryAfterMs === null ? detail : { ...detail, retryAfterMs };
}

function failed(detail: OutcomeDetail): Outcome {
  return { ...detail, durationMs: 0, usage: noUsage };
}

/**
 * One listener per signal however many requests hang on it: thousands share the daemon's, and listeners on a
 * signal are slow to add and warn when they are many.
 */
class AbortWatch {
  readonly #waiting = new WeakMap<AbortSignal, Set<() => void>>();

  add(signal: AbortSignal, giveUp: () => void): void {
    const known = this.#waiting.get(signal);
    if (known !== undefined) {
      known.add(giveUp);
      return;
    }
    const fresh = new Set([giveUp]);
    this.#waiting.set(signal, fresh);
    signal.addEventListener('abort', () => {
      for (const each of fresh) each();
    });
  }

  delete(signal: AbortSignal, giveUp: () => void): void {
    this.#waiting.get(signal)?.delete(giveUp);
  }
}
