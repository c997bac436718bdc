import type { Micros } from './money.ts';

/** A number with its unit. `text` is for other things, such as a currency. */
export type Quantity =
  | { readonly unit: 'money'; readonly micros: Micros }
  | { readonly unit: 'duration'; readonly ms: number }
  | { readonly unit: 'text'; readonly text: string };

type FactValue =
  | Quantity
  | { readonly unit: 'instant'; readonly at: number }
  | { readonly unit: 'count'; readonly count: number };

export interface Fact {
  readonly name: string;
  readonly value: FactValue;
}

export function money(micros: Micros): Quantity {
  return { unit: 'money', micros };
}

export function duration(ms: number): Quantity {
  return { unit: 'duration', ms };
}

export function text(words: string): Quantity {
  return { unit: 'text', text: words };
}

export function instant(at: number): FactValue {
  return { unit: 'instant', at };
}

export function count(count: number): FactValue {
  return { unit: 'count', count };
}

/** In this order, without those that are null. */
export function listFacts(values: Readonly<Record<string, FactValue | null>>): Fact[] {
  return Object.entries(values).flatMap(([name, value]) => (value === null ? [] : [{ name, value }]));
}

/** How far the history behind a burn rate can be trusted. */
export type Confidence = 'none' | 'low' | 'medium' | 'high';
