import { maxProviderWaitMs, readRetryAfter } from '../../domain/backoff.ts';
import { createForeignTexts, type ForeignTexts } from '../../domain/foreign-text.ts';
import { getOrMake } from '../../domain/get-or-make.ts';
import { ownOf } from '../../domain/own.ts';
import { entryOf, type ProviderEntries, type ProviderEntry } from '../../domain/provider-entry.ts';
import type { Outcome, OutcomeDetail } from '../../domain/reading.ts';
import type { Secret } from '../../domain/secret.ts';
import type { AccountSettings } from '../../domain/settings.ts';
import { formatDuration } from '../../domain/time.ts';
import { errorCodes, explainConnectError, sayHandshakeFailed } from '../../net/connect-error.ts';
import type { Clock, Random } from '../../ports/clock.ts';
import type { Provider, SendingGuard } from '../../ports/provider.ts';
import { sentences } from '../../wording/phrase.ts';
import { answers } from '../answers.ts';
import type { SeenExchange } from '../describe-exchange.ts';
import type {
  Attempt,
  BroughtToken,
  ProviderAnswer,
  ProviderKind,
  ProviderRequest,
  RefusedRequest,
} from '../kind.ts';
import { providerKindOf } from '../registry.ts';
import { openConnections } from './connections.ts';
import type { ExchangeEnd } from './exchange.ts';
import { Freshness } from './freshness.ts';
import { type PreparedRequest, post, prepareSending, type Sending } from './posting.ts';
import { createTokens } from './tokens.ts';
import { pickUsageHeaders, wordFacts } from './usage-headers.ts';

export interface ProviderClientOptions {
  readonly kind: ProviderKind;
  readonly entry: ProviderEntry;
  readonly clock: Clock;
  readonly random: Random;
  /** Knows the secrets that the provider may echo; those of polled accounts are added. */
  readonly texts?: ForeignTexts;
  /** Called with each exchange, for people who describe a provider. */
  readonly observe?: (exchange: SeenExchange) => void;
  /** The source of the proxy variables; the process' environment by default. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** The guard for a single request, which never waits. */
const unguarded: SendingGuard = () => 0;

const noUsage: Readonly<Record<string, string>> = {};

/**
 * A provider over HTTP; its kind makes the requests and reads the answers. Each failure is an outcome; nothing rejects. Redirects are never
 * followed, certificates always verified.
 *
 * Throws `OperatorError` when a proxy variable of the environment holds no address.
 */
export function createProviderClient(options: ProviderClientOptions): Provider {
  const { kind, entry, clock, random } = options;
  // The limit covers a whole exchange: name lookup, connection, request and complete answer.
  const { timeoutMs, allowInsecureHttp } = entry;
  const connections = openConnections({
    clock,
    connectTimeoutMs: timeoutMs + 1000,
    environment: options.environment ?? process.env,
  });
  const texts = options.texts ?? createForeignTexts([]);
  const prepared = new WeakMap<AccountSettings, Sending>();
  /** Accounts whose credentials were added to `texts`. */
  const known = new WeakSet<AccountSettings>();
  const freshness = new Freshness();
  const tokens = createTokens(clock, texts);

  function prepare(request: ProviderRequest | RefusedRequest): PreparedRequest {
    return 'reason' in request ? request : prepareSending(request, { connections, allowInsecureHttp });
  }

  /** A request that is neither signed nor holds a token is made once and reused. */
  function prepareBalance(account: AccountSettings, token: Secret | null): PreparedRequest {
    const made = prepared.get(account);
    if (made !== undefined) return made;
    const sending = prepare(kind.request(entry, account, attemptWith(token)));
    if (!('reason' in sending) && token === null && sending.request.signed === undefined)
      prepared.set(account, sending);
    return sending;
  }

  function attemptWith(token: Secret | null): Attempt {
    return { now: clock.now(), random: (bytes) => random.bytes(bytes), token };
  }

  function read(answer: ProviderAnswer, account: AccountSettings, askedAt: number): OutcomeDetail {
    const now = clock.now();
    const { headers, body } = answer;
    const detail = kind.readAnswer(answer, { entry, account, texts, now });
    // A good answer that comes from a cache is no reading.
    const stale = detail.kind === 'ok' ? freshness.problemOf(account, { headers, body, askedAt, now }) : null;
    const outcome: OutcomeDetail =
      stale === null ? detail : { kind: 'invalid_response', reason: stale, status: 200 };
    return outcome.kind === 'ok' ? outcome : withRetryAfter(outcome, answer);
  }

  function withRetryAfter<D extends OutcomeDetail>(failure: D, { headers }: ProviderAnswer): D {
    const retryAfterMs = readRetryAfter(headers, { now: clock.now(), maxMs: maxProviderWaitMs });
    return retryAfterMs === null ? failure : { ...failure, retryAfterMs };
  }

  /** One exchange for a request. `make` is called each time that the request is sent. */
  function exchange(polling: Polling, make: () => PreparedRequest, isForToken = false): Promise<ExchangeEnd> {
    const { observe } = options;
    let last: ProviderRequest | null = null;
    const sending = (): PreparedRequest => {
      const made = make();
      if ('reason' in made) return made;
      last = made.request;
      for (const { secretResult } of made.request.signed ?? []) {
        if (secretResult === undefined) continue;
        texts.add(secretResult.reveal());
        polling.hashes.push(secretResult);
      }
      return made;
    };
    const ended = post({ ...polling, connections, sending, clock, timeoutMs });
    return observe === undefined
      ? ended
      : ended.then((end) => {
          const answer = end.kind === 'answered' ? end : null;
          const { account } = polling;
          if (last !== null)
            observe({ kind, entry, texts, account, request: last, answer, isForToken, now: clock.now() });
          return end;
        });
  }

  async function askForToken(polling: Polling): Promise<BroughtToken | OutcomeDetail | null> {
    const { account } = polling;
    const make = () => prepare(kind.tokenRequest?.(entry, account, attemptWith(null)) ?? needsNone);
    const end = await exchange(polling, make, true);
    if (end.kind === 'aborted') return null;
    if (end.kind !== 'answered') {
      const failure = explainEnd(end, timeoutMs);
      return { ...failure, reason: answers.askedForToken({ reason: failure.reason }) };
    }
    const brought = kind.readToken?.(end, { entry, account, texts, now: clock.now() });
    if (brought === undefined) throw new Error(`${kind.type} asks for tokens and reads none`);
    return 'kind' in brought ? withRetryAfter(brought, end) : brought;
  }

  async function poll(polling: Polling, token: Secret | null): Promise<Outcome> {
    const { account } = polling;
    const askedAt = clock.now();
    const end = await exchange(polling, () => prepareBalance(account, token));
    if (end.kind !== 'answered') return failed(explainEnd(end, timeoutMs));
    const detail = read(end, account, askedAt);
    const usage = pickUsageHeaders(end.headers, texts);
    return detail.kind === 'ok' && detail.facts !== undefined
      ? { ...detail, durationMs: 0, usage: { ...usage, ...wordFacts(detail.facts) } }
      : { ...detail, durationMs: 0, usage };
  }

  /** A kept token may have been withdrawn: if it is refused, a new one is tried once. */
  async function pollWithToken(polling: Polling, key: string, mayAgain = true): Promise<Outcome> {
    const brought = await tokens.bring(key, () => askForToken(polling));
    if (brought === null) return failed(givenUp());
    if ('kind' in brought) return failed(brought);
    const outcome = await poll(polling, brought.token);
    if (outcome.kind !== 'auth_failed') return outcome;
    tokens.forget(key, brought.token);
    return brought.wasKept && mayAgain ? pollWithToken(polling, key, false) : outcome;
  }

  function ask(polling: Polling): Promise<Outcome> | Outcome {
    const request = kind.tokenRequest?.(entry, polling.account) ?? null;
    if (request === null) return poll(polling, null);
    return 'reason' in request
      ? failed({ kind: 'network_error', reason: request.reason })
      : pollWithToken(polling, request.key);
  }

  return {
    async readBalance(account, signal, guard = unguarded) {
      const startedAt = clock.monotonic();
      if (!known.has(account))
        for (const secret of Object.values(account.credentials)) texts.add(secret.reveal());
      known.add(account);
      const polling: Polling = { account, signal, guard, hashes: [] };
      const outcome = await ask(polling);
      for (const hash of polling.hashes) texts.remove(hash.reveal());
      return { ...outcome, durationMs: clock.monotonic() - startedAt };
    },
    close: () => connections.close(),
  };
}

/** The refusal for a token of a kind that needs none: it is never asked for one. */
const needsNone: RefusedRequest = { credential: '', reason: 'the provider needs no token' };

interface Polling {
  readonly account: AccountSettings;
  readonly signal: AbortSignal;
  readonly guard: SendingGuard;
  /** Hashes of credentials in the sent request: they are as secret as the credentials while the answer is read. */
  readonly hashes: Secret[];
}

/** The providers of a configuration as one: a client for each entry, opened with the first poll of one of its accounts. */
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

type FailureDetail = Exclude<OutcomeDetail, { readonly kind: 'ok' }>;

function explainEnd(end: ExchangeEnd, timeoutMs: number): FailureDetail {
  if (end.kind === 'refused') return { kind: 'network_error', reason: end.reason };
  if (end.kind === 'failed') return explainNetworkError(end);
  return end.kind === 'timeout'
    ? { kind: 'timeout', reason: told.late({ timeout: formatDuration(timeoutMs) }) }
    : givenUp();
}

function givenUp(): FailureDetail {
  return { kind: 'network_error', reason: told.givenUp() };
}

function failed(detail: OutcomeDetail): Outcome {
  return { ...detail, durationMs: 0, usage: noUsage };
}

/** Errors that end a connection, or that keep this process from making one, as sentences for people. */
const reasons = sentences('connection', {
  ECONNRESET: 'the connection was reset',
  ECONNABORTED: 'the connection was aborted',
  EPIPE: 'the connection was closed while sending',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_SOCKET: 'the connection was closed before the answer was complete',
  UND_ERR_DESTROYED: 'lowwater is stopping',
  UND_ERR_CLOSED: 'lowwater is stopping',
});
const told = sentences('exchange', {
  late: 'no complete answer within {timeout}',
  givenUp: 'the request was given up',
  notHttp: 'the answer is not HTTP',
  unasked: 'the server sent HTTP 100 or 101, which was not asked for',
  wrongLength: 'the answer contradicts its own Content-Length',
  longHeaders: 'the headers of the answer are too large',
  failed: 'the connection failed',
  failedBy: 'the connection failed ({code})',
});

/** The failure of an exchange. An answer that is not HTTP is invalid; every other failure is the network's. */
interface NetworkFailure {
  readonly kind: 'network_error' | 'invalid_response';
  readonly reason: string;
}

/** The words for an error below HTTP, by its codes alone: messages quote addresses, which may hold passwords. */
function explainNetworkError({ error, isShort }: ExchangeEnd & { kind: 'failed' }): NetworkFailure {
  const invalid = (reason: string): NetworkFailure => ({ kind: 'invalid_response', reason });
  const failed = (reason: string): NetworkFailure => ({ kind: 'network_error', reason });
  const { name, message } = error instanceof Error ? error : new Error();
  const codes = errorCodes(error);
  const unconnected = explainConnectError(codes);
  if (unconnected !== undefined) return failed(unconnected);
  // With `Connection: close`, undici takes the end of the connection for the end of the answer.
  const isWrongLength = codes.includes('UND_ERR_RES_CONTENT_LENGTH_MISMATCH');
  if (/\(Invalid EOF state\)$/.test(message) || (isShort && isWrongLength))
    return failed(reasons.UND_ERR_SOCKET());
  // undici's parser errors have no code of their own, and hold a piece of the answer, which must not be shown. For a status line such as
  // `HTTP/1.1 000`, undici throws an assertion error.
  if (name === 'HTTPParserError' || codes.includes('ERR_ASSERTION')) return invalid(told.notHttp());
  // undici ends the connection on a 100 that it did not ask for, and says so only in the text.
  if (/^bad (?:response|upgrade)$/.test(message)) return invalid(told.unasked());
  const known = codes.map((code) => ownOf(reasons, code)?.()).find(Boolean);
  if (known !== undefined) return failed(known);
  const [code] = codes;
  if (isWrongLength) return invalid(told.wrongLength());
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return invalid(told.longHeaders());
  if (code === undefined) return failed(told.failed());
  const isTls = /^(?:ERR_SSL|EPROTO)/.test(code);
  return failed(isTls ? sayHandshakeFailed({ code }) : told.failedBy({ code }));
}
