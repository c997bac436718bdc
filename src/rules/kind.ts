import type * as z from 'zod';
import type { MessageItem } from '../domain/message.ts';
import type { Micros } from '../domain/money.ts';
import type { Fact } from '../domain/quantity.ts';
import type { Ladder, Rule } from '../domain/rule.ts';
import type { AccountSettings, Settings } from '../domain/settings.ts';
import { type Severity, severities } from '../domain/severity.ts';
import { accountMatch } from '../schema/matchers.ts';
import { choice } from '../schema/shapes.ts';
import { duration, id } from '../schema/texts.ts';
import type { AccountSpending } from '../spending/account-spending.ts';
import type { Argument, Listener, Phrase } from '../wording/phrase.ts';
import type { WordingFrame } from '../wording/quantity-wording.ts';
import type { AccountFacts, Evaluation } from './evaluation.ts';

type KeyPath = readonly string[];

/** An error or a warning in one rule. An empty path is the whole rule. */
export interface KeyProblem {
  readonly path: KeyPath;
  readonly message: string;
}

/** One rule as written in the file, placeholders replaced, not validated yet. */
export interface KeyReader {
  valueAt(path: KeyPath): unknown;
  /** True when a placeholder could not be replaced. */
  isBroken(path: KeyPath): boolean;
}

export type WatchableAccount = Pick<
  AccountSettings,
  'id' | 'labels' | 'currency' | 'balances' | 'thresholds'
> &
  Partial<Pick<AccountSettings, 'provider'>>;

export interface Figure {
  readonly label: string;
  readonly value: string;
}

/** The words of a kind, and its relation to other kinds. Everything that differs between kinds is asked here: no other file knows their names. */
export interface AlertKind {
  /** The name in files, messages and the API. */
  readonly type: string;
  /** Set if a balance runs out: a top-up ends the alert. Of several on one balance only the worst is notified; at equal severity, the lowest rank. */
  readonly emptinessRank?: number;
  /** Set for other kinds that a top-up ends. */
  readonly endsByTopUp?: true;
  /** `symptom`: there are no readings; `cause`: why. A cause inhibits the symptom, and does not count for an outage. */
  readonly staleness?: 'symptom' | 'cause';
  /** Every channel is notified once, unless a route names the rule: the route may be what fails. */
  readonly concernsEveryChannel?: true;
  /** The time after firing in which nobody is notified yet, unless the clock was set back since. Absent: none. */
  pausedMs?(settings: Settings): number;
  /** A few words without state and numbers, for mail subjects: made of a label and its balance as people call them, or of the rule. */
  readonly subject:
    | Phrase<Readonly<Record<'label' | 'balance', Argument>>>
    | ((rule: string, reader: Listener) => string);
  /** A clause after the account's name: what is the case while it fires, or what happened. */
  firing(item: MessageItem, frame: WordingFrame): string;
  resolved(item: MessageItem, frame: WordingFrame): string;
  /** Why it ended, if nothing better is known. */
  recovery(item: MessageItem): Phrase<unknown>;
  /** The most important first. */
  figures(item: MessageItem, frame: WordingFrame): readonly Figure[];
  /** Sentences that say what to do while it is open. */
  advice(item: MessageItem, frame: WordingFrame): readonly string[];
}

/** A rule that has only the keys that all rules have. */
export type PlainRule<Type extends string> = Rule & { readonly type: Type };

/** Keys that a kind adds to `Rule`. A ladder decides the severity too. */
type OwnKeys<R extends Rule> = Omit<R, Exclude<keyof Rule, 'thresholds' | 'thresholdsByCurrency'>> & {
  readonly severity?: Severity;
};

/**
 * A kind of rule. `R` is its typed rule, `I` what its keys read as.
 *
 * All members are methods, whose parameters TypeScript compares both ways: so a kind of special rules can stand in the registry as
 * one of rules in general. It is still given only its own rules, because rules are found by their type, and
 * only its own `build` makes rules of its type.
 */
export interface RuleKind<R extends Rule = Rule, I = unknown> extends AlertKind {
  /** A sentence: hover text of editors, and the configuration reference. */
  readonly summary: string;
  /** Its keys besides `commonKeys`. */
  readonly keys: KeyShape;
  /** True if only a valid reading can move it: while the account cannot be read, time decides nothing about it. */
  readonly needsReading: boolean;
  /** The id of the built-in rule, after that of its balance if it has one; absent for kinds that are not built in. */
  readonly builtInId?: string;
  /** Whether it is built in for an account. Absent: for all. */
  builtInFor?(account: WatchableAccount): boolean;
  /** Set if an account's own `thresholds` replace the rule's. */
  readonly accountThresholds?: true;
  /** The values of its own keys; absent for a kind that has none. `severity`: the one that was given, or the default. */
  build?(input: I, severity: Severity): OwnKeys<R>;
  /** Keys that cannot be combined in one rule, judged from the file even if other keys are wrong. */
  check?(keys: KeyReader): readonly KeyProblem[];
  /** Warnings of things allowed but perhaps not meant. `accounts`: those that the rule watches. */
  warn?(rule: R, accounts: readonly AccountSettings[]): readonly KeyProblem[];
  /** Keys of a rule to begin with, for a balance that was read, in `init`; null if this kind has nothing to watch for. */
  suggest?(micros: Micros, about: { readonly hasLeadTime: boolean }): object | null;
  /** The other meaning that 0.1.0 had for the same keys, and the line that keeps it. */
  meantBefore?(rule: R): KeyProblem | null;
  describe(rule: R): string;
  lookBackMs?(rule: R): number;
  /** The balance at which it resolves, with hysteresis, for all steps of a ladder; null in a currency in which it gives no verdict. */
  clearsAt?(rule: R, facts: AccountFacts): Micros | null;
  /** Flapping is counted over at least this time: alerts that make polls wait change less often than polls are due. */
  readonly minFlapWindowMs?: number;
  /** The level that the rule takes as empty; `empty` is that of the account. */
  floorMicros?(rule: R, empty: Micros): Micros;
  /** When a balance that is empty at `emptyAt` reaches a step of its ladder; absent: earlier by what the step says. */
  reachesStep?(rule: R, step: Severity, facts: AccountFacts & { readonly emptyAt: number }): number;
  /** The time over which the rule wants burn rates of its balance to be measured. */
  burnLookbackMs?(rule: R): number | null;
  /**
   * The rule's verdict on one account. `firing` is the severity with which its alert fires now, null when it does not:
   * only what fires has hysteresis.
   *
   * Rules about money judge the newest reading, whenever they are asked: their windows end at it, so that the same
   * reading gets the same verdict later. An event is notified once for each new reading: the caller does not ask again.
   */
  evaluate(rule: R, facts: AccountFacts, firing: Severity | null): Evaluation;
  /** Tells the spending what an acknowledgement, or its removal (`taken` false), teaches about it. */
  acknowledged?(rule: R, spending: AccountSpending, taken: boolean): void;
  /** True only if `evaluate` gives no breach for an alert that does not fire: replay judges millions of readings. */
  isSurelyOk?(rule: R, facts: AccountFacts): boolean;
  /** When time alone begins a breach without another reading. Absent: never. */
  dueAt?(rule: R, facts: AccountFacts): number;
  /** In the order in which people read them. */
  factsBehind(rule: R, facts: AccountFacts): readonly Fact[];
  /** The nearest threshold with which it would not have fired; `evaluation` is its firing verdict. */
  wouldNotFire(rule: R, facts: AccountFacts, evaluation: Evaluation): string | null;
  levels?(rule: R): Ladder<Micros>;
  /** Whether it fires for something else besides, `waitsMs` ago and later than the facts of its incident say: news, though no worse. */
  isAnother?(told: readonly Fact[], facts: AccountFacts, waitsMs: number): boolean;
  /** Whether its value only grows while it fires: when it comes to a threshold that an edit had moved away, that is news. */
  onlyGrows?(rule: R): boolean;
}

export const commonKeys = {
  id: id('Names the rule in messages, silences and the API. Unique.'),
  for: duration('How long a breach must last before the alert fires.').prefault('0s'),
  recoverFor: duration('How long a recovery must last before the alert resolves.').prefault('0s'),
  match: accountMatch.optional(),
};

export const moneyKeys = {
  balance: id(
    'Which balance of the account the rule watches, such as "sms". Default: the first of its provider.',
  ).optional(),
};

export const severityKey = choice('How bad it is when the rule fires.', severities);

/** The ladder of a rule that may have thresholds by severity. */
export const ladderSeverityKey = choice(
  'How bad it is when the rule fires; not with `thresholds`. Default: "warning".',
  severities,
).optional();

export type KeyShape = z.core.$ZodLooseShape;

export type InputOf<S extends KeyShape> = z.output<z.ZodObject<S, z.core.$strict>>;
