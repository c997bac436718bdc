import type { Fact } from '../domain/quantity.ts';
import type { StaleRule } from '../domain/rule.ts';
import type { Severity } from '../domain/severity.ts';
import type { AccountFacts, Evaluation } from './evaluation.ts';
import { breached, duration, durationFact, instantFact, ok, textFact } from './verdict.ts';

const pollsMissed = 3;
const shortestAfterMs = 2 * 60_000;

/**
 * `stale`: breached when there was no `ok` for `after`; resolved by an `ok`. Time in which
 * lowwater itself was not watching does not count: that is no fault of the provider.
 */
export function evaluateStale(rule: StaleRule, facts: AccountFacts, firing: Severity | null): Evaluation {
  const ageMs = watchedAge(facts);
  const afterMs = staleAfter(rule, facts.pollGapMs);
  const numbers = { value: duration(ageMs), threshold: duration(afterMs) };
  // Only a reading ends it: a longer `after` in an edited configuration tells nobody that the account can be
  // read again.
  const unread = firing !== null && facts.outcome !== 'ok';
  return unread || ageMs >= afterMs ? breached(rule.severity, numbers) : ok(numbers);
}

/** The instant at which stale begins if nothing is read before: what the timer waits for. */
export function staleDueAt(rule: StaleRule, facts: AccountFacts): number {
  return facts.readSince + facts.unwatchedMs + staleAfter(rule, facts.pollGapMs);
}

/** The configured `after`, or the time of three polls, at least two minutes. */
export function staleAfter(rule: StaleRule, pollGapMs: number): number {
  return rule.afterMs ?? Math.max(pollsMissed * pollGapMs, shortestAfterMs);
}

export function factsOfStale(rule: StaleRule, facts: AccountFacts): readonly Fact[] {
  return [
    durationFact('not read for', watchedAge(facts)),
    durationFact('stale after', staleAfter(rule, facts.pollGapMs)),
    durationFact('poll interval', facts.pollGapMs),
    instantFact(facts.reading === null ? 'watched since' : 'last read at', facts.readSince),
    durationFact('not watched', facts.unwatchedMs),
    textFact('last outcome', facts.outcome ?? 'not polled yet'),
  ];
}

function watchedAge(facts: AccountFacts): number {
  return Math.max(0, facts.now - facts.readSince - facts.unwatchedMs);
}
