import type { Matcher } from './rule.ts';

export interface Refusal {
  readonly refused: 'not-found' | 'invalid' | 'not-now';
  readonly why: string;
}

export interface SilenceOrder {
  readonly match: Matcher;
  readonly startsAt: number;
  readonly endsAt: number;
  readonly by: string;
  readonly comment: string;
}
