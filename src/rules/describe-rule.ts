import { formatDuration } from '../domain/duration.ts';
import { formatMoney } from '../domain/money.ts';
import type { Balance } from '../domain/reading.ts';
import type { AmountOrShare, Ladder, Rule } from '../domain/rule.ts';
import { ladderSteps } from './ladder.ts';

const balanceName: Readonly<Record<Balance, string>> = { sms: 'SMS balance', voip: 'VoIP balance' };

/** One line in words: "SMS balance below 50.00 (critical), 200.00 (warning)". Durations as the file writes them. */
export function describeRule(rule: Rule): string {
  switch (rule.type) {
    case 'below':
      return `${balanceName[rule.balance]} below ${describeLadder(rule.thresholds, formatMoney)}`;
    case 'negative':
      return `${balanceName[rule.balance]} below zero (${rule.severity})`;
    case 'runway': {
      const floor = rule.floorMicros === 0 ? '' : ` above ${formatMoney(rule.floorMicros)}`;
      return `${balanceName[rule.balance]}${floor} lasts less than ${describeLadder(rule.thresholds, formatDuration)}`;
    }
    case 'drop':
      return `more than ${describeAmount(rule.by)} of the ${balanceName[rule.balance]} spent within ${formatDuration(rule.windowMs)} (${rule.severity})`;
    case 'idle':
      return `nothing of the ${balanceName[rule.balance]} spent during ${formatDuration(rule.windowMs)} (${rule.severity})`;
    case 'top-up':
      return `${balanceName[rule.balance]} topped up by ${formatMoney(rule.atLeastMicros)} or more (${rule.severity})`;
    case 'currency':
      return `currency differs from the configured one (${rule.severity})`;
    case 'stale':
      return `no balance read for ${rule.afterMs === null ? '3 poll intervals, at least 2m' : formatDuration(rule.afterMs)} (${rule.severity})`;
    case 'auth-failed':
      return `the provider refuses the key (${rule.severity})`;
  }
}

/** "50.00" or "10%". */
function describeAmount(amount: AmountOrShare): string {
  return amount.kind === 'amount' ? formatMoney(amount.micros) : formatShare(amount.share);
}

/** A share as percent with at most four decimals: "12.5%". */
export function formatShare(share: number): string {
  return `${Math.round(share * 1_000_000) / 10_000}%`;
}

function describeLadder(ladder: Ladder<number>, format: (threshold: number) => string): string {
  return ladderSteps(ladder)
    .map(({ severity, threshold }) => `${format(threshold)} (${severity})`)
    .join(', ');
}
