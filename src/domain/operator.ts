import type { ExpectOrder } from './expected-top-up.ts';
import type { Matcher } from './rule.ts';
import type { Severity } from './severity.ts';
import type { Silence } from './silence.ts';

export interface Refusal {
  /** `changed`: the alert is no longer as the person saw it. */
  readonly refused: 'not-found' | 'invalid' | 'not-now' | 'changed';
  readonly why: string;
  readonly about?: 'account' | 'rule' | 'window' | 'everything';
}

export interface AlertName {
  readonly account: string;
  readonly rule: string;
}

/** What a person saw of an alert when they gave an order about it; what is absent is not compared. */
export interface SeenAlert {
  /** Null of an alert that was pending. */
  readonly incident?: string | null | undefined;
  readonly severity?: Severity | undefined;
}

/** Which alert a person means, as they saw it. */
export interface SeenAlertName extends AlertName {
  readonly seen?: SeenAlert;
}

/** A person takes the open incident of an alert. */
export interface Acknowledge extends SeenAlertName {
  readonly by: string;
  readonly comment: string;
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
  /** The alert whose form ordered it, as the person saw it. */
  readonly seen?: AlertName & SeenAlert;
}

/** An order that the command line left in the database for the daemon. */
export type OperatorOrder =
  | (Acknowledge & { readonly kind: 'acknowledge'; readonly at: number })
  | {
      readonly kind: 'unacknowledge';
      readonly account: string;
      readonly rule: string;
      readonly at: number;
    }
  | { readonly kind: 'silence'; readonly silence: Silence }
  | { readonly kind: 'expire'; readonly id: string; readonly at: number }
  | (ExpectOrder & { readonly kind: 'expect-top-up'; readonly at: number })
  | { readonly kind: 'cancel-expected'; readonly account: string; readonly id: string; readonly at: number }
  | { readonly kind: 'hand-over'; readonly at: number };
