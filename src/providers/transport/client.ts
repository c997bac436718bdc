import { maxProviderWaitMs, readRetryAfter } from '../../domain/backoff.ts';
import { formatDuration } from '../../domain/duration.ts';
import { createForeignTexts, type ForeignTexts } from '../../domain/foreign-text.ts';
import { getOrMake } from '../../domain/get-or-make.ts';
import { entryOf, type ProviderEntries, type ProviderEntry } from '../../domain/provider-entry.ts';
import type { Outcome, OutcomeDetail } from '../../domain/reading.ts';
import type { AccountSettings } from '../../domain/settings.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Provider, SendingGuard } from '../../ports/provider.ts';
import type { SeenExchange } from '../describe-exchange.ts';
import type { ProviderAnswer, ProviderKind, ProviderRequest } from '../kind.ts';
import { providerKindOf } from '../registry.ts';
import { type Connections, openConnections } from './connections.ts';
import { Exchange, type ExchangeEnd, type ExchangeOwner } from './exchange.ts';
import { Freshness } from './freshness.ts';
import { explainNetworkError } from './network-error.ts';
import { findTarget } from './target.ts';
import { pickUsageHeaders, wordFacts } from './usage-headers.ts';

export interface ProviderClientOptions {
  readonly kind: ProviderKind;
  readonly entry: ProviderEntry;
  readonly clock: Clock;
  /** Knows what the provider may echo and must go nowhere; secrets of accounts that are polled are added. */
  readonly texts?: ForeignTexts;
  /** Sees each exchange that was made, for whoever describes a provider. */
  readonly observe?: (exchange: SeenExchange) => void;
  /** Where the proxy variables are read from; the process' environment by default. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** A request that met a connection dead on arrival never reached the provider: it is sent again, so often in all. */
const maxAttempts = 3;

/** Sent with every request that does not have its own. */
const commonHeaders: ProviderRequest['headers'] = {
  accept: 'application/json',
  'user-agent': 'lowwater',
  'cache-control': 'no-store',
};

/** Where nobody counts: one request by itself. */
const unguarded: SendingGuard = () => 0;

const noUsage: Readonly<Record<string, string>> = {};

/**
 * A provider over HTTP, as its kind asks and reads. Each failure is an outcome; nothing rejects. Redirects are never
 * followed, certificates always verified.
 *
 * Throws `OperatorError` when a proxy variable of the environment holds no address.
 */
export function createProviderClient(options: ProviderClientOptions): Provider {
  const { kind, entry, clock } = options;
  // Of a whole exchange: name lookup, connection, request and complete answer.
  const { timeoutMs, allowInsecureHttp } = entry;
  const connections = openConnections({
    clock,
    connectTimeoutMs: timeoutMs + 1000,
    environment: options.environment ?? process.env,
  });
  const texts = options.texts ?? createForeignTexts([]);
  const prepared = new WeakMap<AccountSettings, PreparedRequest>();
  const freshness = new Freshness();

  function prepare(account: AccountSettings): PreparedRequest {
    return getOrMake(prepared, account, () => {
      for (const secret of Object.values(account.credentials)) texts.add(secret.reveal());
      const request = kind.request(entry, account);
      return 'reason' in request ? request : prepareSending(request, { connections, allowInsecureHttp });
    });
  }

  function read(answer: ProviderAnswer, account: AccountSettings, durationMs: number): OutcomeDetail {
    const now = clock.now();
    const { headers, body } = answer;
    const detail = kind.readAnswer(answer, { entry, account, texts });
    // A good answer from a cache is no reading.
    const times = { askedAt: now - durationMs, now };
    const stale = detail.kind === 'ok' ? freshness.problemOf(account, { headers, body, ...times }) : null;
    const outcome: OutcomeDetail =
      stale === null ? detail : { kind: 'invalid_response', reason: stale, status: 200 };
    if (outcome.kind === 'ok') return outcome;
    const retryAfterMs = readRetryAfter(headers, { now, maxMs: maxProviderWaitMs });
    return retryAfterMs === null ? outcome : { ...outcome, retryAfterMs };
  }

  return {
    async readBalance(account, signal, guard = unguarded) {
      const startedAt = clock.monotonic();
      const sending = prepare(account);
      if ('reason' in sending) return failed({ kind: 'network_error', reason: sending.reason });
      const end = await post({ connections, sending, signal, guard, clock, timeoutMs });
      const durationMs = clock.monotonic() - startedAt;
      const answer = end.kind === 'answered' ? end : null;
      options.observe?.({ kind, entry, texts, account, request: sending.request, answer });
      if (answer === null) return { ...failed(explainEnd(end, timeoutMs)), durationMs };
      const detail = read(answer, account, durationMs);
      const usage = pickUsageHeaders(answer.headers, texts);
      return detail.kind === 'ok' && detail.facts !== undefined
        ? { ...detail, durationMs, usage: { ...usage, ...wordFacts(detail.facts) } }
        : { ...detail, durationMs, usage };
    },
    close: () => connections.close(),
  };
}

/** The providers of a configuration as one: a client for each entry, opened when the first of its accounts is asked. */
export function createEntryClients(
  settings: ProviderEntries,
  options: Omit<ProviderClientOptions, 'kind' | 'entry'>,
): Provider {
  const clients = new Map<string, Provider>();
  return {
    readBalance(account, signal, guard) {
      const entry = entryOf(settings, account);
      const open = () => createProviderClient({ ...options, kind: providerKindOf(entry), entry });
      return getOrMake(clients, entry.name, open).readBalance(account, signal, guard);
    },
    async close() {
      await Promise.all([...clients.values()].map((client) => client.close()));
    },
  };
}

/** A request in the form in which it is sent, made once for each account; or why it is not sent. */
type PreparedRequest = Sending | { readonly reason: string };
type Sending = Exclude<ReturnType<typeof prepareSending>, { readonly reason: string }>;

function prepareSending(
  request: ProviderRequest,
  { connections, allowInsecureHttp }: { connections: Connections; allowInsecureHttp: boolean },
) {
  const target = findTarget(request.url.reveal(), allowInsecureHttp);
  if ('reason' in target) return target;
  const { origin, path, loopback } = target;
  // As undici takes them: names and values in turn.
  const headers = Object.entries({ ...commonHeaders, ...request.headers }).flatMap(([name, value]) => [
    name,
    typeof value === 'string' ? value : value.reveal(),
  ]);
  const body = request.body === null ? null : Buffer.from(request.body.reveal());
  return {
    request,
    way: connections.to(loopback),
    sent: { origin, path, method: request.method, headers, body },
  };
}

interface PostingDependencies {
  readonly connections: Connections;
  readonly sending: Sending;
  readonly signal: AbortSignal;
  readonly guard: SendingGuard;
  readonly clock: Clock;
  readonly timeoutMs: number;
}

/** One request, sent again while it only met dead connections, under one deadline. A class, because one is made for every poll. */
class Posting implements ExchangeOwner {
  readonly guard: SendingGuard;
  readonly #parts: PostingDependencies;
  readonly #resolve: (end: ExchangeEnd) => void;
  #attempts = 0;
  #exchange: Exchange | null = null;
  #cancelTimer: (() => void) | null = null;

  constructor(parts: PostingDependencies, resolve: (end: ExchangeEnd) => void) {
    this.guard = parts.guard;
    this.#parts = parts;
    this.#resolve = resolve;
    postingsOf(parts.signal).add(this);
    this.#attempt();
  }

  settle(end: ExchangeEnd): void {
    if (this.#attempts < maxAttempts && metDeadConnection(end, this.#parts.connections)) this.#send();
    else this.#end(end);
  }

  /** Nothing was sent, so this is no attempt, and its time has not begun. */
  holdBack(waitMs: number): void {
    this.#attempts -= 1;
    this.#exchange = null;
    this.#cancelTimer?.();
    this.#cancelTimer = this.#parts.clock.setTimer(waitMs, () => this.#attempt());
  }

  giveUp(kind: 'timeout' | 'aborted'): void {
    if (this.#exchange === null) this.#end({ kind });
    else this.#exchange.giveUp(kind);
  }

  #attempt(): void {
    const { clock, timeoutMs } = this.#parts;
    this.#cancelTimer?.();
    this.#cancelTimer = clock.setTimer(timeoutMs, () => this.giveUp('timeout'));
    this.#send();
  }

  #send(): void {
    this.#attempts += 1;
    this.#exchange = new Exchange(this);
    const { way, sent } = this.#parts.sending;
    way.dispatch(sent, this.#exchange);
  }

  #end(end: ExchangeEnd): void {
    this.#cancelTimer?.();
    postingsOf(this.#parts.signal).delete(this);
    this.#resolve(end);
  }
}

function post(parts: PostingDependencies): Promise<ExchangeEnd> {
  if (parts.signal.aborted) return Promise.resolve({ kind: 'aborted' });
  return new Promise((resolve) => new Posting(parts, resolve));
}

/** A kept connection that the other side had closed meanwhile, and that brought no part of an answer. */
function metDeadConnection(end: ExchangeEnd, connections: Connections): boolean {
  return end.kind === 'failed' && !end.answerBegun && connections.wasDeadOnArrival(end.error);
}

function explainEnd(end: ExchangeEnd, timeoutMs: number): OutcomeDetail {
  if (end.kind === 'failed') return explainNetworkError(end.error);
  return end.kind === 'timeout'
    ? { kind: 'timeout', reason: `no complete answer within ${formatDuration(timeoutMs)}` }
    : { kind: 'network_error', reason: 'the request was given up' };
}

function failed(detail: OutcomeDetail): Outcome {
  return { ...detail, durationMs: 0, usage: noUsage };
}

const waiting = new WeakMap<AbortSignal, Set<Posting>>();

/** What a signal ends, by one listener: thousands share the daemon's, and listeners are slow to add and warn when many. */
function postingsOf(signal: AbortSignal): Set<Posting> {
  return getOrMake(waiting, signal, () => {
    const postings = new Set<Posting>();
    signal.addEventListener('abort', () => {
      for (const each of postings) each.giveUp('aborted');
    });
    return postings;
  });
}
