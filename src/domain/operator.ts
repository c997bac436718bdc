import type { Matcher } from './rule.ts';
import type { Silence } from './silence.ts';

export interface Refusal {
  readonly refused: 'not-found' | 'invalid' | 'not-now';
  readonly why: string;
  readonly about?: 'account' | 'rule' | 'window' | 'everything';
}

export interface AlertName {
  readonly account: string;
  readonly rule: string;
}

/** What a silence would mute: alerts that fire now, and the accounts that it covers. */
export interface Muted {
  readonly alerts: readonly AlertName[];
  readonly accounts: readonly string[];
}

export interface SilenceOrder {
  /** Empty only where `everything` confirms it. */
  readonly match: Matcher;
  readonly everything?: boolean;
  readonly startsAt: number;
  readonly endsAt: number;
  readonly by: string;
  readonly comment: string;
}

/** An order that the command line left in the database for the daemon. */
export type OperatorOrder =
  | {
      readonly kind: 'acknowledge';
      readonly account: string;
      readonly rule: string;
      readonly by: string;
      readonly comment: string;
      readonly at: number;
    }
  | {
      readonly kind: 'unacknowledge';
      readonly account: string;
      readonly rule: string;
      readonly at: number;
    }
  | { readonly kind: 'silence'; readonly silence: Silence }
  | { readonly kind: 'expire'; readonly id: string; readonly at: number }
  | { readonly kind: 'hand-over'; readonly at: number };
