import type { Micros } from './money.ts';
import type { Balance } from './reading.ts';
import type { Severity } from './severity.ts';

/** A key matches when the value is one of those listed. All given keys must match. */
export interface Matcher {
  readonly account?: readonly string[];
  readonly rule?: readonly string[];
  readonly severity?: readonly Severity[];
  readonly labels?: Readonly<Record<string, readonly string[]>>;
}

/** An amount in the balance's currency, or a share of another amount (0.1 is 10 %). */
export type AmountOrShare =
  | { readonly kind: 'amount'; readonly micros: Micros }
  | { readonly kind: 'share'; readonly share: number };

/** Only the severities that the rule uses are present. */
export type Ladder<T> = Readonly<Partial<Record<Severity, T>>>;

/** What all kinds of rules have in common; the module of a kind types its own keys. */
export interface Rule {
  readonly id: string;
  readonly type: string;
  /** With a ladder: the worst that it can reach. */
  readonly severity: Severity;
  readonly forMs: number;
  readonly recoverForMs: number;
  readonly match: Matcher;
  /** True for a rule that exists without being configured. */
  readonly builtIn: boolean;
  /** As written in the file, placeholders replaced; absent where no file has it. */
  readonly written?: unknown;
  /** In the unit that the kind judges. */
  readonly thresholds?: Ladder<number>;
  /** Null for rules about the whole account; `firstBalance` before it is known on which account it is. */
  readonly balance: Balance | null;
  /** How people call the balance; absent while `balance` is `firstBalance`, and where no account is known. */
  readonly balanceLabel?: string;
}

/** Stands for the first balance of each account's provider kind. */
export const firstBalance: Balance = '';

export interface MoneyRule extends Rule {
  readonly balance: Balance;
}
