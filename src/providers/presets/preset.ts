import type { SimulatedResponse } from '../kind.ts';

/** A provider as data: the keys of an `http-json` entry, as an operator would write them, and what people want to know. */
export interface Preset {
  readonly type: string;
  readonly name: string;
  /** What it was read from. */
  readonly source: string;
  /** `documented`: the vendor's document or official client; `observed`: public clients that agree. */
  readonly certainty: string;
  /** Each with what it is for people, in the order in which they are asked for. */
  readonly credentials: Readonly<Record<string, string>>;
  /** The documented limit, and how old a figure may be. */
  readonly limits: string;
  readonly shortestEvery?: string;
  /** Where each customer has an address of its own: what to give as `baseUrl`. */
  readonly baseUrl?: string;
  readonly notes?: readonly string[];
  /** An answer as the source shows it: for documents and the simulator. */
  readonly sample: unknown;
  /** How it refuses a key or a request too many, where that is not 401 or 429. */
  readonly refusals?: { readonly key?: Refusal; readonly rate?: Refusal };
}

interface Refusal extends Pick<SimulatedResponse, 'status'> {
  readonly body: unknown;
}
