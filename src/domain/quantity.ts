import type { Micros } from './money.ts';

/** A number with the unit that people read it in. `text` is for things that are not numbers, such as a currency. */
export type Quantity =
  | { readonly unit: 'money'; readonly micros: Micros }
  | { readonly unit: 'duration'; readonly ms: number }
  | { readonly unit: 'text'; readonly text: string };

/** One named number behind a verdict, as `explain` prints it. */
export interface Fact {
  readonly name: string;
  readonly value:
    | Quantity
    | { readonly unit: 'instant'; readonly at: number }
    | { readonly unit: 'count'; readonly count: number };
}

/** How far the history behind a burn rate can be trusted. */
export type Confidence = 'none' | 'low' | 'medium' | 'high';
