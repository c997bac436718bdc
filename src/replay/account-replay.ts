import type { Alert } from '../domain/alert.ts';
import type { OutcomeKind } from '../domain/outcome.ts';
import type { Reading } from '../domain/reading.ts';
import type { Rule } from '../domain/rule.ts';
import {
  elapse,
  elapsesAt,
  inactiveAlert,
  isAtRest,
  shiftAlert,
  type Transition,
  transition,
} from '../engine/transition.ts';
import { evaluate } from '../rules/evaluate.ts';
import type { AccountFacts, Evaluation } from '../rules/evaluation.ts';
import { needsReading } from '../rules/judging.ts';
import { longestWindow } from '../rules/longest-window.ts';
import { staleAfter } from '../rules/stale.ts';
import { createReadingLog, type ReadingLog } from '../spending/reading-log.ts';
import { IncidentBook, type IncidentChange, type ReplayedIncident } from './incident-book.ts';
import { isQuiet, isSteady, keepAlert, type Watch, watchRule } from './watch.ts';

/** An account as far as a replay needs it. `rules` are those that apply to it. */
export interface AccountToReplay {
  readonly id: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly currency: string | null;
  readonly pollIntervalMs: number;
  /** For a schedule with uneven gaps: the mean gap between the polls that are due after an instant. */
  readonly pollGapAt: ((at: number) => number) | null;
  readonly rules: readonly Rule[];
  /** From when on a reading was missed if none came; null for the first poll. */
  readonly watchedSince: number | null;
}

/**
 * One account's past, judged by `evaluate` and `transition` in the order of the daemon: what time brings
 * (`for`, staleness) at its own instant between polls, then the poll. Polls are given oldest first.
 *
 * It is fast because most readings change nothing: `isQuiet` tells them without asking the rule.
 */
export class AccountReplay {
  readonly #account: AccountToReplay;
  readonly #log: ReadingLog;
  readonly #watches: readonly Watch[];
  readonly #facts: { -readonly [Key in keyof AccountFacts]: AccountFacts[Key] };
  readonly #book: IncidentBook;
  /** When time alone next changes something; recomputed when an alert changed or polls began to fail. */
  #alertDueAt = Number.POSITIVE_INFINITY;
  /** After how long without a reading the first rule calls the account stale. */
  #staleAfterMs = Number.POSITIVE_INFINITY;
  #dueIsOld = true;
  #started = false;
  /** Whether `pollGapMs` is that of the time after the last reading; before it is, the poll interval stands for it. */
  #gapKnown = false;

  constructor(account: AccountToReplay) {
    const { rules, pollIntervalMs, currency } = account;
    this.#account = account;
    this.#log = createReadingLog({ windowMs: longestWindow(rules), pollIntervalMs });
    this.#book = new IncidentBook(account, this.#log);
    this.#watches = rules.map((rule) => watchRule(rule, pollIntervalMs));
    this.#facts = {
      now: 0,
      currency,
      pollIntervalMs,
      pollGapMs: pollIntervalMs,
      reading: null,
      previous: null,
      log: this.#log,
      outcome: null,
      readSince: 0,
      unwatchedMs: 0,
    };
  }

  /** Every change of an incident, oldest first. */
  get changes(): readonly IncidentChange[] {
    return this.#book.changes;
  }

  /** Oldest first; those that still fire without an end. */
  get incidents(): readonly ReplayedIncident[] {
    return this.#book.incidents;
  }

  /** A reading from before the replay: rules look back on it, nothing is judged. */
  remember(reading: Reading): void {
    this.#log.append(reading);
    this.#takeReading(reading);
  }

  /** A poll that read the balances. */
  read(reading: Reading): void {
    const { at } = reading;
    this.#liveUntil(at);
    const previous = this.#facts.reading;
    const judgeAll =
      this.#facts.outcome !== 'ok' || previous === null || previous.currency !== reading.currency;
    if (this.#facts.outcome !== 'ok') this.#dueIsOld = true;
    this.#log.append(reading);
    this.#takeReading(reading);
    this.#facts.now = at;
    this.#book.noteEmpty(reading);
    for (const watch of this.#watches) {
      if (judgeAll || !isQuiet(watch, reading, previous)) this.#judge(watch);
    }
    if (this.#nextDueAt() <= at) this.#elapse(at);
  }

  /** A poll that failed: the last reading stands, and time decides nothing about balances until the next one. */
  fail(at: number, outcome: Exclude<OutcomeKind, 'ok'>): void {
    this.#liveUntil(at);
    this.#facts.outcome = outcome;
    this.#facts.now = at;
    this.#dueIsOld = true;
    for (const watch of this.#watches) if (!needsReading(watch.rule)) this.#judge(watch);
    if (this.#nextDueAt() <= at) this.#elapse(at);
  }

  /** Nobody watched for `byMs` up to `at`: that time is neither breach nor recovery nor staleness. */
  pause(at: number, byMs: number): void {
    this.#liveUntil(at - byMs);
    this.#facts.unwatchedMs += byMs;
    this.#dueIsOld = true;
    for (const watch of this.#watches) {
      if (watch.alert !== null) keepAlert(watch, shiftAlert(watch.alert, byMs));
    }
  }

  /** The end of what is known: what time brings by then still happens. */
  finish(at: number): void {
    this.#liveUntil(at + 1);
  }

  /** Does what time brings before `at`, each at its own instant. */
  #liveUntil(at: number): void {
    if (!this.#started) this.#start(this.#account.watchedSince ?? at);
    for (let due = this.#nextDueAt(); due < at; due = this.#nextDueAt()) {
      if (this.#learnGap()) continue;
      this.#elapse(due);
    }
  }

  #start(at: number): void {
    this.#started = true;
    if (this.#facts.reading === null) this.#facts.readSince = at;
    else this.#facts.unwatchedMs = Math.max(0, at - this.#facts.readSince);
  }

  /** The calendar is asked for the gap only where there is one. True when that was news. */
  #learnGap(): boolean {
    if (this.#gapKnown || this.#account.pollGapAt === null) return false;
    this.#gapKnown = true;
    this.#facts.pollGapMs = this.#account.pollGapAt(this.#facts.readSince);
    this.#dueIsOld = true;
    return true;
  }

  #takeReading(reading: Reading): void {
    const facts = this.#facts;
    facts.previous = facts.reading;
    facts.reading = reading;
    facts.outcome = 'ok';
    facts.readSince = reading.at;
    facts.unwatchedMs = 0;
    if (!this.#gapKnown) return;
    this.#gapKnown = false;
    facts.pollGapMs = this.#account.pollIntervalMs;
    this.#dueIsOld = true;
  }

  #elapse(at: number): void {
    this.#facts.now = at;
    for (const watch of this.#watches) {
      if (watch.rule.type === 'stale' && isAtRest(watch.alert)) this.#judge(watch);
      if (watch.alert !== null && !this.#isHeld(watch)) {
        this.#apply(watch, elapse(watch.alert, watch.timing, at));
      }
    }
    this.#dueIsOld = true;
  }

  #nextDueAt(): number {
    if (this.#dueIsOld) this.#findDue();
    const staleDueAt = this.#facts.readSince + this.#facts.unwatchedMs + this.#staleAfterMs;
    return Math.min(this.#alertDueAt, staleDueAt);
  }

  #findDue(): void {
    this.#alertDueAt = Number.POSITIVE_INFINITY;
    this.#staleAfterMs = Number.POSITIVE_INFINITY;
    this.#dueIsOld = false;
    for (const watch of this.#watches) {
      const { rule, alert, timing } = watch;
      const rests = alert === null || alert.state === 'inactive' || alert.recoveringSince !== null;
      if (rule.type === 'stale' && rests) {
        this.#staleAfterMs = Math.min(this.#staleAfterMs, staleAfter(rule, this.#facts.pollGapMs));
      }
      if (alert === null || this.#isHeld(watch)) continue;
      this.#alertDueAt = Math.min(this.#alertDueAt, elapsesAt(alert, timing) ?? this.#alertDueAt);
    }
  }

  #isHeld({ rule }: Watch): boolean {
    return this.#facts.outcome !== 'ok' && needsReading(rule);
  }

  #judge(watch: Watch): void {
    const { rule, alert } = watch;
    const firing = alert?.state === 'firing' ? alert.severity : null;
    const evaluation = evaluate(rule, this.#facts, firing);
    if (evaluation.kind === 'event') {
      this.#book.addEvent(this.#newAlert(watch), evaluation, this.#facts.now);
    }
    if (leavesAlone(alert, evaluation)) return;
    this.#apply(watch, transition(alert ?? this.#newAlert(watch), evaluation, watch.timing, this.#facts.now));
  }

  #apply(watch: Watch, { alert, change }: Transition): void {
    if (change === 'none') {
      if (alert.state === 'inactive' || alert === watch.alert) return;
      // A worse severity may have begun to wait for `for`, or have stopped waiting.
      keepAlert(watch, alert);
      this.#dueIsOld = true;
      return;
    }
    this.#dueIsOld = true;
    const { now } = this.#facts;
    if (change === 'fired') this.#book.open(watch.rule, alert, now);
    else if (change === 'resolved') this.#book.close(alert, now);
    else if (alert.state === 'firing') this.#book.update(alert, change === 'rose', now);
    keepAlert(watch, { ...alert, incident: this.#book.openOf(alert.rule) });
  }

  #newAlert({ rule, balance }: Watch): Alert {
    return inactiveAlert({ account: this.#account.id, rule: rule.id, type: rule.type, balance });
  }
}

/** True when the verdict is the one that the alert stands for, so that no transition can come of it. */
function leavesAlone(alert: Alert | null, evaluation: Evaluation): boolean {
  if (evaluation.kind === 'unknown' || evaluation.kind === 'event') return true;
  if (alert === null || alert.state === 'inactive') return evaluation.kind === 'ok';
  return isSteady(alert) && evaluation.kind === 'breached' && evaluation.severity === alert.severity;
}
