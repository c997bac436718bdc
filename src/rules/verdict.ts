import type { Micros } from '../domain/money.ts';
import type { Fact, Quantity } from '../domain/quantity.ts';
import type { Severity } from '../domain/severity.ts';
import type { Evaluation } from './evaluation.ts';

export interface Numbers {
  readonly value: Quantity | null;
  readonly threshold: Quantity | null;
}

const noFacts: readonly Fact[] = [];

export function ok({ value, threshold }: Numbers): Evaluation {
  return { kind: 'ok', value, threshold, facts: noFacts };
}

export function breached(severity: Severity, { value, threshold }: Numbers): Evaluation {
  return { kind: 'breached', severity, value, threshold, facts: noFacts };
}

export function happened(severity: Severity, { value, threshold }: Numbers): Evaluation {
  return { kind: 'event', severity, value, threshold, facts: noFacts };
}

/** `why` is a clause for people. */
export function unknown(why: string): Evaluation {
  return { kind: 'unknown', why, value: null, threshold: null, facts: noFacts };
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

export function moneyFact(name: string, micros: Micros): Fact {
  return { name, value: money(micros) };
}

export function durationFact(name: string, ms: number): Fact {
  return { name, value: duration(ms) };
}

export function textFact(name: string, words: string): Fact {
  return { name, value: text(words) };
}

export function instantFact(name: string, at: number): Fact {
  return { name, value: { unit: 'instant', at } };
}

export function countFact(name: string, count: number): Fact {
  return { name, value: { unit: 'count', count } };
}
