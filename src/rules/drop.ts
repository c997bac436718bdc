import { describeDuration, describeHistory } from '../domain/duration.ts';
import type { Micros } from '../domain/money.ts';
import type { Fact } from '../domain/quantity.ts';
import type { DropRule } from '../domain/rule.ts';
import { hiddenTime, type Lookback, lookBack } from '../spending/lookback.ts';
import type { ReadingLog } from '../spending/reading-log.ts';
import type { AccountFacts, Evaluation } from './evaluation.ts';
import { readingFacts, unusable } from './snapshot.ts';
import { breached, durationFact, money, moneyFact, ok, textFact, unknown } from './verdict.ts';

/**
 * `drop`: breached when more than `by` was spent within the last `window` before the newest reading; a share
 * is of the balance at the window's start. Spent is the sum of falls, so a top-up in the
 * window hides nothing.
 *
 * With a history that does not cover the window it still speaks where the outcome is certain: more than `by`
 * in the part that is known is a breach; not even `by` in a span longer than the window is ok. All else is
 * unknown.
 */
export function evaluateDrop(rule: DropRule, facts: AccountFacts): Evaluation {
  const problem = unusable(facts);
  const span = lookBack(facts.log, rule.windowMs);
  if (problem !== null || span === null) return unknown(problem ?? 'no reading yet');
  const { log } = facts;
  const spent = log.spentBetween(rule.balance, span.from, span.to);
  const limits = limitsOf(rule, log, span);
  if (limits === null) {
    return unknown(
      span.covers || span.cutByGap
        ? 'nothing at the start of the window to take a share of'
        : tooShort(rule, log, span),
    );
  }
  if (spent > limits.certainlyBreached) {
    return breached(rule.severity, { value: money(spent), threshold: money(limits.certainlyBreached) });
  }
  if (span.covers || isCertainlyOk(rule, log, { span, limit: limits.certainlyOk })) {
    return ok({ value: money(spent), threshold: money(limits.certainlyBreached) });
  }
  return unknown(
    span.cutByGap ? 'polling was interrupted over the start of the window' : tooShort(rule, log, span),
  );
}

/** What was spent in the window as far as it is known, and of which balance at the window's start. */
export function dropNumbers(
  rule: DropRule,
  log: ReadingLog,
): { readonly spentMicros: Micros; readonly startMicros: Micros } | null {
  const span = lookBack(log, rule.windowMs);
  if (span === null) return null;
  return {
    spentMicros: log.spentBetween(rule.balance, span.from, span.to),
    startMicros: log.balanceAt(span.from, rule.balance),
  };
}

export function factsOfDrop(rule: DropRule, facts: AccountFacts): readonly Fact[] {
  const { log } = facts;
  const found = [...readingFacts(facts, rule.balance), durationFact('window', rule.windowMs)];
  const span = lookBack(log, rule.windowMs);
  if (span === null) return found;
  const { from, to } = span;
  const limits = limitsOf(rule, log, span);
  found.push(
    durationFact('observed', log.instantAt(to) - log.instantAt(from)),
    durationFact('in gaps', log.blindBetween(from, to)),
    moneyFact('balance at the start', log.balanceAt(from, rule.balance)),
    moneyFact('spent', log.spentBetween(rule.balance, from, to)),
    moneyFact('topped up', log.toppedUpBetween(rule.balance, from, to)),
  );
  if (hiddenTime(log, { balance: rule.balance, from, to }) > 0) {
    found.push(textFact('note', 'a top-up during a gap may hide more spending'));
  }
  if (limits !== null) found.push(moneyFact('breached above', limits.certainlyBreached));
  return found;
}

/**
 * The amounts that decide. They differ only for a share while a gap lies over the window's start: the balance
 * there was something between those on the gap's two sides. Null when there is no share to take.
 */
function limitsOf(
  rule: DropRule,
  log: ReadingLog,
  span: Lookback,
): { readonly certainlyBreached: Micros; readonly certainlyOk: Micros } | null {
  if (rule.by.kind === 'amount') return { certainlyBreached: rule.by.micros, certainlyOk: rule.by.micros };
  if (!span.covers && !span.cutByGap) return null;
  const start = log.balanceAt(span.from, rule.balance);
  const other = span.cutByGap ? log.balanceAt(span.from - 1, rule.balance) : start;
  if (Math.min(start, other) <= 0) return null;
  return {
    certainlyBreached: Math.round(Math.max(start, other) * rule.by.share),
    certainlyOk: Math.round(Math.min(start, other) * rule.by.share),
  };
}

function isCertainlyOk(
  rule: DropRule,
  log: ReadingLog,
  { span, limit }: { span: Lookback; limit: Micros },
): boolean {
  if (!span.cutByGap) return false;
  const from = span.from - 1;
  const mayHide = hiddenTime(log, { balance: rule.balance, from, to: span.from }) > 0;
  return !mayHide && log.spentBetween(rule.balance, from, span.to) <= limit;
}

function tooShort(rule: DropRule, log: ReadingLog, span: Lookback): string {
  const seen = describeHistory(log.instantAt(span.to) - log.instantAt(span.from));
  return `${seen}, needs ${describeDuration(rule.windowMs)}`;
}
