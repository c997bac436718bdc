/** A provider as data: the keys of an `http-json` entry, as an operator would write them, and what people want to know. */
export interface Preset {
  readonly type: string;
  readonly name: string;
  readonly source: string;
  /** `documented`: the vendor's document or official client; `observed`: public clients that agree. */
  readonly certainty: string;
  /** Each credential with its purpose, for people, in the order in which they are asked for. */
  readonly credentials: Readonly<Record<string, string>>;
  /** The documented limit, and how old a figure may be. */
  readonly limits: string;
  readonly shortestEvery?: string;
  /** The value to give as `baseUrl`; absent unless each customer has an address of its own. */
  readonly baseUrl?: string;
  readonly notes?: readonly string[];
  /** An answer as the source shows it: for documents and the simulator. */
  readonly sample: unknown;
  /** The answer to the request for `{{token}}`, if one is needed. */
  readonly tokenSample?: unknown;
  /** Further documented answers: errors, and the answer to an account without a balance. The simulator gives the first of each meaning. */
  readonly answers?: readonly DocumentedAnswer[];
}

export interface DocumentedAnswer {
  readonly status: number;
  readonly body: unknown;
  /** `auth_failed`, `rate_limited`, `api_error`, `clock_off`, `postpaid`, `http_error` or `invalid_response`. */
  readonly means: string;
  /** The vendor's words that are quoted; absent if there are none. */
  readonly says?: string;
  /** The source of this answer, if it is not the preset’s own. */
  readonly source?: string;
}
