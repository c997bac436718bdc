import type * as z from 'zod';
import type { MessageItem } from '../domain/message.ts';
import type { Micros } from '../domain/money.ts';
import type { Fact } from '../domain/quantity.ts';
import type { Ladder, Rule } from '../domain/rule.ts';
import type { AccountSettings, Settings } from '../domain/settings.ts';
import type { Severity } from '../domain/severity.ts';
import type { AccountSpending } from '../spending/account-spending.ts';
import type { WordingFrame } from '../wording/quantity-wording.ts';
import type { AccountFacts, Evaluation } from './evaluation.ts';

/** A place below a rule of the file: keys from the rule down. */
type KeyPath = readonly string[];

/** Something wrong with, or doubtful in, one rule. An empty path is the rule as a whole. */
export interface KeyProblem {
  readonly path: KeyPath;
  readonly message: string;
}

/** One rule as it stands in the file, placeholders replaced, of which nothing else is known yet. */
export interface KeyReader {
  /** Undefined where there is nothing. */
  valueAt(path: KeyPath): unknown;
  /** True where a placeholder could not be replaced: the value there means nothing. */
  isBroken(path: KeyPath): boolean;
}

/** What decides which rules watch an account. */
export type WatchableAccount = Pick<AccountSettings, 'id' | 'labels' | 'currency' | 'balances'>;

/** One number of a message with its name. */
export interface Figure {
  readonly label: string;
  readonly value: string;
}

/**
 * A kind of alert: the words for it, and how it stands to others. lowwater's own failures are no more than that; a kind
 * of rule (`RuleKind`) can be configured and judges accounts besides.
 *
 * Everything that differs from kind to kind is asked here: no other file knows the names of kinds.
 */
export interface AlertKind {
  /** Its name, in files, messages and the API. */
  readonly type: string;
  /**
   * Set for the kinds that say in different words that a balance is running out. A top-up ends them, and of those
   * that fire on one balance only one speaks: the worst, among equals the lowest number here.
   */
  readonly emptinessRank?: number;
  /**
   * What it says about readings that do not come: that there are none, or why. Who knows why speaks for the other, and
   * takes the account out of a count of those that an outage of the provider keeps from being read.
   */
  readonly staleness?: 'symptom' | 'cause';
  /** Every channel is told once, whatever the routes say, unless a route names the rule: the route may be what fails. */
  readonly concernsEveryChannel?: true;
  /** How long after it fired nobody is told yet: what is over by then is nobody's trouble. Absent: it is told at once. */
  heldMs?(settings: Settings): number;
  /** What it is about in a few words, without state and numbers: in the subject of its mails. */
  subject(about: { readonly balanceLabel: string; readonly rule: string }): string;
  /** What is the case while it fires, or happened: a clause that follows the account's name. */
  firing(item: MessageItem, frame: WordingFrame): string;
  /** What is the case once it is resolved. */
  resolved(item: MessageItem, frame: WordingFrame): string;
  /** Why it ended, as a sentence, where nothing better is known. */
  readonly recovery: string;
  /** Its numbers, the most telling first. */
  figures(item: MessageItem, frame: WordingFrame): readonly Figure[];
  /** What to do next, as whole sentences, while it is open. */
  advice(item: MessageItem, frame: WordingFrame): readonly string[];
}

/**
 * A kind of rule. `R` is its typed rule, `I` what its keys read as.
 *
 * All are methods, whose parameters TypeScript compares both ways: so a kind of special rules stands in the registry as
 * one of rules in general. What guarantees that it is given its own rules is that rules are found by their type, and
 * only its own `build` makes rules of its type.
 */
export interface RuleKind<R extends Rule = Rule, I = unknown> extends AlertKind {
  /** What it watches for, in a sentence: the hover text of editors, and the configuration reference. */
  readonly summary: string;
  /** Its keys in the file, besides those of every rule (`commonKeys`). */
  readonly keys: z.core.$ZodLooseShape;
  /** True where only a valid reading can move it: while the account cannot be read, time decides nothing about it. */
  readonly needsReading: boolean;
  /** Where it exists without being configured: the id that its rule has then, after that of its balance if it is about one. */
  readonly builtInId?: string;
  /** Of a kind that exists without being configured: on which accounts. Absent: on all. */
  builtInFor?(account: WatchableAccount): boolean;
  /** The typed rule from what every rule has and from its own keys. */
  build(common: Rule, input: I): R;
  /** What does not go together in one rule. It reads the rule as it stands in the file, whatever else is wrong with it. */
  check?(keys: KeyReader): readonly KeyProblem[];
  /** What is allowed but perhaps not meant. `accounts` are those that the rule watches. */
  warn?(rule: R, accounts: readonly AccountSettings[]): readonly KeyProblem[];
  /** Where 0.1.0 meant something else by the same keys: what, and the line that keeps it. */
  meantBefore?(rule: R): KeyProblem | null;
  /** What it watches for, with its numbers, in a clause. */
  describe(rule: R): string;
  /** How far back it looks, in milliseconds. */
  lookBackMs?(rule: R): number;
  /** The balance at which its alert surely resolves, all steps of a ladder with their hysteresis. */
  clearsAt?(rule: R): Micros;
  /** The level of its balance that it takes for empty, where it warns of that; `empty` is what is empty for the account. */
  floorMicros?(rule: R, empty: Micros): Micros;
  /** How far back it wants the spending of its balance to be measured wherever a burn rate is told. */
  burnLookbackMs?(rule: R): number | null;
  /**
   * What the rule says of one account. `firing` is the severity with which its alert fires now, null when it does not:
   * only what fires has hysteresis.
   *
   * Rules about money judge the newest reading, whenever they are asked: their windows end at it, so that the same
   * reading gets the same verdict later. An event is told once for each new reading: the caller does not ask again.
   */
  evaluate(rule: R, facts: AccountFacts, firing: Severity | null): Evaluation;
  /**
   * A person took its incident, or gave it back (`taken` false): what that means for what is known of the account's spending. Absent: nothing.
   */
  acknowledged?(rule: R, spending: AccountSpending, taken: boolean): void;
  /**
   * A shorter way to what `evaluate` says of nearly every reading: true only where that is surely neither a breach nor an
   * event for an alert that does not fire. Worth having where a rule judges millions of stored readings.
   */
  isSurelyOk?(rule: R, facts: AccountFacts): boolean;
  /** The instant at which time alone begins a breach, if nothing is read before. Absent where time alone begins none. */
  dueAt?(rule: R, facts: AccountFacts): number;
  /** Every number that the rule looks at, named, in the order in which people read them. */
  factsBehind(rule: R, facts: AccountFacts): readonly Fact[];
  /**
   * The nearest threshold with which it would not have fired, as a sentence. Asked only for a verdict that fires;
   * `evaluation` is that verdict.
   */
  wouldNotFire(rule: R, facts: AccountFacts, evaluation: Evaluation): string | null;
  /** The levels of its balance that charts draw. */
  levels?(rule: R): Ladder<Micros>;
}
