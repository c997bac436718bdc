import type { Micros } from './money.ts';

/** A number with its unit. `text` is for other things, such as a currency. */
export type Quantity =
  | { readonly unit: 'money'; readonly micros: Micros }
  | { readonly unit: 'duration'; readonly ms: number }
  | { readonly unit: 'text'; readonly text: string };

export interface Fact {
  readonly name: string;
  readonly value:
    | Quantity
    | { readonly unit: 'instant'; readonly at: number }
    | { readonly unit: 'count'; readonly count: number };
}

/** How far the history behind a burn rate can be trusted. */
export type Confidence = 'none' | 'low' | 'medium' | 'high';
