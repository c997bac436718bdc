import type { IncomingHttpHeaders } from 'node:http';
import type * as z from 'zod';
import type { ForeignTexts } from '../domain/foreign-text.ts';
import type { Micros } from '../domain/money.ts';
import type { ProviderEntry } from '../domain/provider-entry.ts';
import type { BalanceDefinition, OutcomeDetail } from '../domain/reading.ts';
import type { Secret } from '../domain/secret.ts';

/**
 * Everything that sets one kind of provider apart from the others. An entry of the configuration (`provider`, or one of `providers`) is of
 * one kind. `build` makes the entry's settings, which the other methods get.
 *
 * These are methods, not properties, on purpose: TypeScript compares the parameters of methods both ways, so that a kind that knows its own
 * entry can be in the registry with the others.
 */
export interface ProviderKind<
  Config extends { readonly type?: string | undefined } = { readonly type?: string | undefined },
  Own extends ProviderEntry = ProviderEntry,
> {
  readonly type: string;
  /** One line for lists: which provider, and what of it is read. */
  readonly summary: string;
  /** The source of its interface, with its certainty. */
  readonly source: ProviderSource;
  /** False for a kind whose readings are pushed: it makes no request. */
  readonly polled: boolean;
  /** The kind's keys of an entry, with a description of each; `type` is a literal. The registry adds the keys of all entries (`timeout`, …). */
  readonly schema: z.ZodObject;
  /** The keys of an entry from which requests are made: values of placeholders in them are kept secret too. */
  readonly requestKeys?: readonly string[];
  /** The keys of an account that hold its one credential, and perhaps its address, if they are not under `credentials`. */
  readonly accountKeys?: { readonly credential: string; readonly address: string };
  /** Builds the settings of an entry: what all entries share, and what this kind needs. Keys that do not fit together are problems. */
  build(shared: SharedEntry, config: Config): Own | { readonly problems: readonly EntryProblem[] };
  /** Names that an account of the entry must give under `credentials`, each a secret. */
  credentials(config: Config): readonly CredentialDefinition[];
  /** Documented limits, which set the defaults of an entry and the shortest poll interval that makes sense. */
  limits(config: Config): ProviderLimits;
  /** Called once for each account, or for each attempt if signed or with a token; also when the configuration is checked. */
  request(entry: Own, account: ProviderAccount, attempt?: Attempt): ProviderRequest | RefusedRequest;
  /** The request for the token that the balance request holds; null if it needs none. */
  tokenRequest?(
    entry: Own,
    account: ProviderAccount,
    attempt?: Attempt,
  ): TokenRequest | RefusedRequest | null;
  readToken?(answer: ProviderAnswer, context: AnswerContext<Own>): BroughtToken | OutcomeDetail;
  /**
   * The outcome of an answer. The transport has limited its size and time; it adds `Retry-After`, duration and usage headers. Reasons quote
   * only what `texts` cleaned; amounts are exact from the digits of the body.
   */
  readAnswer(answer: ProviderAnswer, context: AnswerContext<Own>): OutcomeDetail;
  details?(): ProviderDetails;
  /** The body with what is read from it; of the rest, which may hold personal data, only names. */
  showAnswer?(answer: ProviderAnswer, context: AnswerContext<Own>): string;
  /** Which part of an answer was read as what, for people who describe a provider. */
  explainAnswer?(answer: ProviderAnswer, context: AnswerContext<Own>): readonly ReadPart[];
  /** Its simulated API for the simulator, the demo and tests; loaded only there. */
  loadSimulation?(): Promise<ProviderSimulation>;
}

export interface ProviderDetails {
  /** Method and address, with placeholders for credentials. */
  readonly request: string;
  /** How a request proves its credentials without sending them: `HMAC-SHA256`, `MD5`, `token`; null if it sends them. */
  readonly signed: string | null;
  readonly balances: readonly Pick<BalanceDefinition, 'id' | 'label'>[];
  /** The source of the currency, or the unit that is counted instead. */
  readonly currency: string;
  /** The value to give as `baseUrl`, if an entry needs one. */
  readonly baseUrl: string | null;
  readonly notes: readonly string[];
}

/** `found` is the value in the answer, cut and without secrets; `read` is what it was taken for. */
export interface ReadPart {
  readonly what: string;
  readonly where: string;
  readonly found: string;
  readonly read: string;
}

/** The keys common to the entries of all kinds, read from the file. */
export type SharedEntry = Omit<ProviderEntry, 'balances' | 'words' | 'polled'>;

export interface EntryProblem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

export interface ProviderSource {
  /** A page or document of the vendor, or another source. */
  readonly reference: string;
  /** `documented`: the vendor's document or official client. `observed`: public client code that agrees. */
  readonly certainty: 'documented' | 'observed';
}

export interface CredentialDefinition {
  readonly name: string;
  /** For people: "API key, with the scope account-management:manage". */
  readonly label: string;
}

/** The part of an account that its provider's kind has to know. `AccountSettings` is one. */
export interface ProviderAccount {
  readonly id: string;
  readonly credentials: Readonly<Record<string, Secret>>;
  /** The account's base address, for kinds whose accounts have one. */
  readonly baseUrl: string | null;
}

export interface ProviderLimits {
  /** Requests per second that lowwater makes unless the entry says otherwise; 1 when absent. */
  readonly requestsPerSecond?: number;
  /** Polling more often than this shows nothing new, or is refused. */
  readonly shortestEveryMs?: number;
  /** For people: the documented limit and how old a balance may be. */
  readonly documented: string;
}

/** A request, ready to be sent. Credentials may stand in any part of it except the method; each such part prints as a placeholder. */
export interface ProviderRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** Whole address with its query. `http://` to another machine is refused by the transport. */
  readonly url: Secret;
  /** Names in lower case; `accept`, `user-agent` and `cache-control` are added when absent. */
  readonly headers: Readonly<Record<string, string | Secret>>;
  readonly body: Secret | null;
  /** Set if the request is signed, and so made again for each attempt. */
  readonly signed?: readonly SignedText[];
}

/** A text that was signed or hashed, with its step. It holds secrets. */
export interface SignedText {
  readonly step: string;
  readonly text: Secret;
  /** The step's result, if it is as good as a credential: a hash of one. */
  readonly secretResult?: Secret;
}

/** One sending of a request. */
export interface Attempt {
  /** Wall clock, ms. */
  readonly now: number;
  readonly random: (bytes: number) => Buffer;
  readonly token: Secret | null;
}

/** An attempt for a request that is never sent, to see whether credentials fit. */
export const trialAttempt: Attempt = { now: 0, random: (bytes) => Buffer.alloc(bytes), token: null };

/** Accounts with the same `key`, which is a secret, share the token. */
export interface TokenRequest extends ProviderRequest {
  readonly key: string;
}

export interface BroughtToken {
  readonly token: Secret;
  /** The time for which the token is valid. */
  readonly lifetimeMs: number;
}

/** A credential that cannot stand where the request needs it, such as a line break in a header. The reason never quotes it. */
export interface RefusedRequest {
  readonly credential: string;
  readonly reason: string;
}

/** A complete HTTP answer. `body` is null if its text was not read; `problem` says why. */
export type ProviderAnswer = { readonly status: number; readonly headers: IncomingHttpHeaders } & (
  | { readonly body: string; readonly problem?: never }
  | { readonly body: null; readonly problem: 'too-large' | 'encoded' | 'cut-off' }
);

export interface AnswerContext<Own extends ProviderEntry = ProviderEntry> {
  readonly entry: Own;
  readonly account: ProviderAccount;
  readonly texts: ForeignTexts;
  /** When the answer came, by this machine's wall clock. */
  readonly now: number;
}

/** The simulated API of a kind. The simulator adds limits, latency and outages; the kind makes the answers. */
export interface ProviderSimulation {
  identify(request: SimulatedRequest, accounts: readonly SimulatedBalances[]): SimulatedBalances | null;
  succeed(account: SimulatedBalances, request: SimulatedRequest): SimulatedResponse;
  refuseKey(request: SimulatedRequest): SimulatedResponse;
  limitRate(request: SimulatedRequest): SimulatedResponse;
}

export interface SimulatedBalances {
  readonly credentials: Readonly<Record<string, string>>;
  readonly balances: Readonly<Record<string, Micros>>;
  readonly currency: string;
}

export interface SimulatedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Wall clock of the simulated provider, ms. */
  readonly receivedAt: number;
}

export interface SimulatedResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}
