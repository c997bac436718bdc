import type { Rule } from '../domain/rule.ts';
import { dayMs } from '../spending/burn.ts';

/** How far back the rules look at most, and never less than the day that outlooks and sparklines show. */
export function longestWindow(rules: readonly Rule[]): number {
  return rules.reduce((longest, rule) => Math.max(longest, windowOf(rule)), dayMs);
}

function windowOf(rule: Rule): number {
  if (rule.type === 'runway') return rule.lookbackMs;
  return rule.type === 'drop' || rule.type === 'idle' ? rule.windowMs : 0;
}
