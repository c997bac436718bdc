/** What bench/pipeline.ts asks of its peers. */
export type PeersOrder =
  | { readonly kind: 'count' }
  | { readonly kind: 'set-balances'; readonly accounts: readonly number[]; readonly amount: string }
  | { readonly kind: 'timings' };

/** Instants are milliseconds of the machine's monotonic clock. */
export interface Arrival {
  readonly account: number;
  readonly at: number;
}

/** From the answer that caused a message, written by the provider, to the message's arrival. */
export interface WebhookDelay {
  readonly account: number;
  readonly ms: number;
}

export type PeersAnswer =
  | {
      readonly kind: 'ready';
      readonly providerUrl: string;
      readonly providerPort: number;
      readonly hooksUrl: string;
    }
  | { readonly kind: 'count'; readonly requests: number; readonly at: number }
  | {
      readonly kind: 'timings';
      readonly arrivals: readonly Arrival[];
      readonly delays: readonly WebhookDelay[];
    }
  | { readonly kind: 'done' };
