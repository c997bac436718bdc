import type { Matcher } from './rule.ts';

export interface Refusal {
  readonly refused: 'not-found' | 'invalid' | 'not-now';
  readonly why: string;
}

/** Which alert a person means. */
export interface AlertName {
  readonly account: string;
  readonly rule: string;
}

export interface SilenceOrder {
  /** May only be without keys where `everything` says that this is meant. */
  readonly match: Matcher;
  readonly everything?: boolean;
  readonly startsAt: number;
  readonly endsAt: number;
  readonly by: string;
  readonly comment: string;
}
