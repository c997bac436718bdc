import { describeDuration, describeHistory } from '../domain/duration.ts';
import type { MoneyRule } from '../domain/rule.ts';
import { type Burn, dayMs, measureBurn } from '../spending/burn.ts';
import type { AccountFacts } from './evaluation.ts';

/** A rule as far as it goes by the mean burn. */
export interface MeanRunwayRule extends MoneyRule {
  /** Null: how long it lasts is foretold. Else by the mean burn over so long. */
  readonly lookbackMs: number | null;
  readonly minimumHistoryMs: number;
  /** True when the file itself set `minimumHistory`: then it alone decides whether the rule may speak. */
  readonly minimumHistoryGiven: boolean;
}

/** Without a `lookback` the mean burn stands in until there is a day to foretell from. */
export function meanLookback(rule: MeanRunwayRule): number {
  return rule.lookbackMs ?? dayMs;
}

export function meanBurn(rule: MeanRunwayRule, { log }: AccountFacts): Burn {
  return measureBurn({ log, balance: rule.balance, lookbackMs: meanLookback(rule) });
}

/** Why the mean burn tells nothing yet; null where it does. */
export function tooLittle(rule: MeanRunwayRule, burn: Burn): string | null {
  if (maySpeak(rule, burn)) return null;
  const seen = `${describeHistory(burn.observedMs)} in ${burn.readings} reading${burn.readings === 1 ? '' : 's'}`;
  if (rule.minimumHistoryGiven) {
    return `${seen}, needs ${describeDuration(Math.min(rule.minimumHistoryMs, meanLookback(rule)))}`;
  }
  const neededMs = Math.min(60 * 60_000, meanLookback(rule) / 2);
  const enough = burn.observedMs >= neededMs && burn.readings >= 6;
  return enough
    ? `${seen}, most of it without polls (confidence ${burn.confidence})`
    : `${seen}, needs ${describeDuration(neededMs)} and 6 readings (confidence ${burn.confidence})`;
}

function maySpeak(rule: MeanRunwayRule, burn: Burn): boolean {
  if (burn.observedMs <= 0) return false;
  if (rule.minimumHistoryGiven) return burn.observedMs >= Math.min(rule.minimumHistoryMs, meanLookback(rule));
  return burn.confidence === 'medium' || burn.confidence === 'high';
}
