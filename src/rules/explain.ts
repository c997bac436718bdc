import { formatDuration } from '../domain/duration.ts';
import { formatAmount } from '../domain/money.ts';
import type { Reading } from '../domain/reading.ts';
import type {
  BelowRule,
  DropRule,
  IdleRule,
  Rule,
  RunwayRule,
  StaleRule,
  TopUpRule,
} from '../domain/rule.ts';
import { measureBurn, runwayOf } from '../spending/burn.ts';
import { formatShare } from './describe-rule.ts';
import { dropNumbers } from './drop.ts';
import type { AccountFacts, Evaluation } from './evaluation.ts';
import { idleTime } from './idle.ts';
import { firstThreshold } from './ladder.ts';

/**
 * The nearest threshold with which a rule that fires would not have fired, as a sentence for people. Null
 * when it does not fire. `evaluation` is the rule's verdict on these facts.
 */
export function wouldNotFire(rule: Rule, facts: AccountFacts, evaluation: Evaluation): string | null {
  if (evaluation.kind !== 'breached' && evaluation.kind !== 'event') return null;
  const { reading } = facts;
  if (rule.type === 'stale') return forStale(rule, evaluation);
  if (rule.type === 'auth-failed')
    return 'It has no threshold: it fires whenever the provider refuses the key.';
  if (reading === null) return null;
  switch (rule.type) {
    case 'below':
      return forBelow(rule, reading);
    case 'negative':
      return forNegative(reading, reading[rule.balance]);
    case 'runway':
      return forRunway(rule, facts, reading);
    case 'drop':
      return forDrop(rule, facts, reading);
    case 'idle':
      return forIdle(rule, facts);
    case 'top-up':
      return forTopUp(rule, evaluation, reading);
    case 'currency':
      return `It would not fire if the account's currency were configured as ${reading.currency}.`;
  }
}

function forBelow(rule: BelowRule, reading: Reading): string {
  const balance = reading[rule.balance];
  const threshold = firstThreshold(rule.thresholds);
  if (threshold !== null && balance >= threshold) {
    const room = formatAmount(balance - threshold, reading.currency);
    return `The balance is back at the threshold; with a hysteresis of ${room} or less it would have resolved.`;
  }
  return `It would not fire with a threshold of ${formatAmount(balance, reading.currency)} or less.`;
}

function forNegative(reading: Reading, balance: number): string {
  if (balance >= 0) {
    const room = formatAmount(balance, reading.currency);
    return `The balance is no longer negative; with a hysteresis of ${room} or less it would have resolved.`;
  }
  return `Its threshold is always zero; a rule of type "below" with a threshold of ${formatAmount(balance, reading.currency)} or less would not fire.`;
}

function forRunway(rule: RunwayRule, facts: AccountFacts, reading: Reading): string {
  const burn = measureBurn({ log: facts.log, balance: rule.balance, lookbackMs: rule.lookbackMs });
  const runwayMs = runwayOf(burn, reading[rule.balance] - rule.floorMicros) ?? 0;
  const within = firstThreshold(rule.thresholds);
  if (!Number.isFinite(runwayMs) || runwayMs === 0) {
    // Below this floor the balance lasts longer than the longest `within`.
    const usedWithin =
      burn.observedMs > 0 ? Math.ceil(((within ?? 0) * burn.spentMicros) / burn.observedMs) : 0;
    const floor = formatAmount(reading[rule.balance] - usedWithin, reading.currency);
    return `The balance is at its floor or under it; it would not fire with a floor below ${floor}.`;
  }
  if (within !== null && runwayMs >= within) {
    return `The runway is past \`within\` again; it resolves at 1.2 times of it, so with \`within\` of ${wholeSeconds(runwayMs / 1.2, 'down')} or shorter it would have resolved.`;
  }
  return `It would not fire with \`within\` of ${wholeSeconds(runwayMs, 'down')} or shorter.`;
}

function forDrop(rule: DropRule, facts: AccountFacts, reading: Reading): string | null {
  const numbers = dropNumbers(rule, facts.log);
  if (numbers === null) return null;
  const { spentMicros, startMicros } = numbers;
  if (rule.by.kind === 'amount') {
    return `It would not fire with \`by\` of ${formatAmount(spentMicros, reading.currency)} or more.`;
  }
  // Rounded up to the four decimals of a percentage that are shown, so that the share named here is enough.
  const share = Math.ceil((spentMicros / startMicros) * 1_000_000) / 1_000_000;
  return `It would not fire with \`by\` of ${formatShare(share)} or more.`;
}

function forIdle(rule: IdleRule, facts: AccountFacts): string {
  return `It would not fire with a \`window\` longer than ${wholeSeconds(idleTime(rule, facts.log), 'up')}.`;
}

function forTopUp(rule: TopUpRule, evaluation: Evaluation, reading: Reading): string {
  const rise = evaluation.value?.unit === 'money' ? evaluation.value.micros : rule.atLeastMicros;
  return `It would not tell with \`atLeast\` of more than ${formatAmount(rise, reading.currency)}.`;
}

function forStale(rule: StaleRule, evaluation: Evaluation): string {
  const ageMs = evaluation.value?.unit === 'duration' ? evaluation.value.ms : (rule.afterMs ?? 0);
  return `It would not fire yet with \`after\` longer than ${wholeSeconds(ageMs, 'up')}.`;
}

/** As the file writes it, to the second: rounded to the side on which the sentence stays true. */
function wholeSeconds(ms: number, side: 'up' | 'down'): string {
  const seconds = side === 'up' ? Math.ceil(ms / 1000) : Math.floor(ms / 1000);
  return formatDuration(seconds * 1000);
}
