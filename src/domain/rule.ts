import type { Micros } from './money.ts';
import type { Balance } from './reading.ts';
import type { Severity } from './severity.ts';

/** A value or several: the key matches when the value is one of them. All given keys must match. */
export interface Matcher {
  readonly account?: readonly string[];
  readonly rule?: readonly string[];
  readonly severity?: readonly Severity[];
  readonly labels?: Readonly<Record<string, readonly string[]>>;
}

/** Something counted in the balance's currency, or as a share of another amount (0.1 is 10 %). */
export type AmountOrShare =
  | { readonly kind: 'amount'; readonly micros: Micros }
  | { readonly kind: 'share'; readonly share: number };

/** Threshold by severity; only the severities that the rule speaks in are present. */
export type Ladder<T> = Readonly<Partial<Record<Severity, T>>>;

/** What rules of all kinds have in common. The module of a kind types the keys that are its own. */
export interface Rule {
  readonly id: string;
  /** The name of its kind (`rules/registry.ts`). */
  readonly type: string;
  /** Of a rule with a ladder: the worst that it can reach. */
  readonly severity: Severity;
  readonly forMs: number;
  readonly recoverForMs: number;
  readonly match: Matcher;
  /** True for the rules that exist without being configured. */
  readonly builtIn: boolean;
  /** As it stands in the file, placeholders replaced; absent where no file has it. */
  readonly written?: unknown;
  /** Of a rule with a ladder: its thresholds by severity, in the unit that its kind judges. */
  readonly thresholds?: Ladder<number>;
  /** Which balance it is about; null for rules about the account as a whole. */
  readonly balance: Balance | null;
}

/** A rule about one balance. */
export interface MoneyRule extends Rule {
  readonly balance: Balance;
}
