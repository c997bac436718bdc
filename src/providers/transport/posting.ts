import { isLoopbackHost } from '../../domain/addresses.ts';
import { getOrMake } from '../../domain/get-or-make.ts';
import type { Clock } from '../../ports/clock.ts';
import type { SendingGuard } from '../../ports/provider.ts';
import type { ProviderRequest } from '../kind.ts';
import type { Connections } from './connections.ts';
import { Exchange, type ExchangeEnd, type ExchangeOwner } from './exchange.ts';

/** The most tries of a request: one that met a connection dead on arrival never reached the provider, and is sent again. */
const maxAttempts = 3;

/** Headers of every request that does not set them itself. */
const commonHeaders: ProviderRequest['headers'] = {
  accept: 'application/json',
  'user-agent': 'lowwater',
  'cache-control': 'no-store',
};

/** A request in the form in which it is sent, or the reason why it is not sent. */
export type PreparedRequest = Sending | { readonly reason: string };
export type Sending = Exclude<ReturnType<typeof prepareSending>, { readonly reason: string }>;

export function prepareSending(
  request: ProviderRequest,
  { connections, allowInsecureHttp }: { connections: Connections; allowInsecureHttp: boolean },
) {
  const target = findTarget(request.url.reveal(), allowInsecureHttp);
  if ('reason' in target) return target;
  const { origin, path, loopback } = target;
  // Headers as undici takes them: names and values in turn.
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
  /** Called at each attempt, because a signed request holds its time. */
  readonly sending: () => PreparedRequest;
  readonly signal: AbortSignal;
  readonly guard: SendingGuard;
  readonly clock: Clock;
  readonly timeoutMs: number;
}

/** One request under one deadline, sent again while it only met dead connections. A class, because every poll makes one. */
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
    if (waitMs === Number.POSITIVE_INFINITY) this.#end({ kind: 'aborted' });
    else this.#cancelTimer = this.#parts.clock.setTimer(waitMs, () => this.#attempt());
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
    const sending = this.#parts.sending();
    if ('reason' in sending) {
      this.#end({ kind: 'refused', reason: sending.reason });
      return;
    }
    this.#exchange = new Exchange(this);
    sending.way.dispatch(sending.sent, this.#exchange);
  }

  #end(end: ExchangeEnd): void {
    this.#cancelTimer?.();
    postingsOf(this.#parts.signal).delete(this);
    this.#resolve(end);
  }
}

export function post(parts: PostingDependencies): Promise<ExchangeEnd> {
  if (parts.signal.aborted) return Promise.resolve({ kind: 'aborted' });
  return new Promise((resolve) => new Posting(parts, resolve));
}

/** Whether the request met a kept connection that the other side had closed, and that brought no part of an answer. */
function metDeadConnection(end: ExchangeEnd, connections: Connections): boolean {
  return end.kind === 'failed' && !end.answerBegun && connections.wasDeadOnArrival(end.error);
}

const waiting = new WeakMap<AbortSignal, Set<Posting>>();

/** Requests that a signal ends, with one listener for all: thousands share the daemon's signal, and many listeners are slow and cause a warning. */
function postingsOf(signal: AbortSignal): Set<Posting> {
  return getOrMake(waiting, signal, () => {
    const postings = new Set<Posting>();
    signal.addEventListener('abort', () => {
      for (const each of postings) each.giveUp('aborted');
    });
    return postings;
  });
}

type Target =
  | { readonly origin: string; readonly path: string; readonly loopback: boolean }
  | { readonly reason: string };

/** An address in the parts that a connection takes. Refuses `http://` to another machine, because a secret would go in clear text. */
export function findTarget(address: string, allowInsecureHttp: boolean): Target {
  const url = URL.parse(address);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    return { reason: 'the base address is no http or https address' };
  const loopback = isLoopbackHost(url.hostname);
  if (url.protocol === 'http:' && !loopback && !allowInsecureHttp)
    return { reason: 'the secret is not sent over http:// to another machine (provider.allowInsecureHttp)' };
  return { origin: url.origin, path: url.pathname + url.search, loopback };
}
