/** A provider as data: the keys of an `http-json` entry, as an operator would write them, and what people want to know. */
export interface Preset {
  readonly type: string;
  readonly name: string;
  readonly source: string;
  /** `documented`: the vendor's document or official client; `observed`: public clients that agree. */
  readonly certainty: string;
  /** Each with what it is for people, in the order in which they are asked for. */
  readonly credentials: Readonly<Record<string, string>>;
  /** The documented limit, and how old a figure may be. */
  readonly limits: string;
  readonly shortestEvery?: string;
  /** Absent unless each customer has an address of its own: what to give as `baseUrl`. */
  readonly baseUrl?: string;
  readonly notes?: readonly string[];
  /** An answer as the source shows it: for documents and the simulator. */
  readonly sample: unknown;
  /** The answer to the request for `{{token}}`, where one is needed. */
  readonly tokenSample?: unknown;
  /** Further answers that its source documents: errors, and what an account without a balance is answered. The simulator says the first of each. */
  readonly answers?: readonly DocumentedAnswer[];
}

export interface DocumentedAnswer {
  readonly status: number;
  readonly body: unknown;
  /** `auth_failed`, `rate_limited`, `api_error`, `clock_off`, `postpaid`, `http_error` or `invalid_response`. */
  readonly means: string;
  /** The words of the vendor that are quoted; absent where it has none. */
  readonly says?: string;
  /** Its source, where that is not the preset’s own. */
  readonly source?: string;
}
