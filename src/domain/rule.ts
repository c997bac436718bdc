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

interface RuleBase {
  readonly id: string;
  /** Severity of rules without a ladder. */
  readonly severity: Severity;
  readonly forMs: number;
  readonly recoverForMs: number;
  readonly match: Matcher;
  /** True for the rules that exist without being configured. */
  readonly builtIn: boolean;
}

interface MoneyRuleBase extends RuleBase {
  readonly balance: Balance;
}

export interface BelowRule extends MoneyRuleBase {
  readonly type: 'below';
  readonly thresholds: Ladder<Micros>;
  readonly hysteresis: AmountOrShare;
}

export interface NegativeRule extends MoneyRuleBase {
  readonly type: 'negative';
  readonly hysteresisMicros: Micros;
}

export interface RunwayRule extends MoneyRuleBase {
  readonly type: 'runway';
  /** Milliseconds of runway by severity. */
  readonly thresholds: Ladder<number>;
  readonly floorMicros: Micros;
  readonly lookbackMs: number;
  readonly minimumHistoryMs: number;
  /** True when the file itself set `minimumHistory`: then it alone decides whether the rule may speak. */
  readonly minimumHistoryGiven: boolean;
}

export interface DropRule extends MoneyRuleBase {
  readonly type: 'drop';
  readonly by: AmountOrShare;
  readonly windowMs: number;
}

export interface IdleRule extends MoneyRuleBase {
  readonly type: 'idle';
  readonly windowMs: number;
}

export interface TopUpRule extends MoneyRuleBase {
  readonly type: 'top-up';
  readonly atLeastMicros: Micros;
}

export interface CurrencyRule extends RuleBase {
  readonly type: 'currency';
}

export interface StaleRule extends RuleBase {
  readonly type: 'stale';
  /** Null: three times the account's poll interval, at least two minutes. */
  readonly afterMs: number | null;
}

export interface AuthFailedRule extends RuleBase {
  readonly type: 'auth-failed';
}

export type MoneyRule = BelowRule | NegativeRule | RunwayRule | DropRule | IdleRule | TopUpRule;

export type Rule = MoneyRule | CurrencyRule | StaleRule | AuthFailedRule;

export type RuleType = Rule['type'];
