import type { Outlook } from '../domain/message.ts';
import type { Balance } from '../domain/reading.ts';
import type { Ladder, Rule } from '../domain/rule.ts';
import { outlook, spendingLookback } from '../spending/outlook.ts';
import type { WatchedAccount } from './watched-account.ts';

/** What follows from the spending of a balance; null before the first reading. */
export function outlookOf(account: WatchedAccount, balance: Balance, now: number): Outlook | null {
  const { reading } = account.poll;
  if (reading === null) return null;
  const lookbackMs = spendingLookback(account.rules, balance);
  return outlook({ log: account.log, reading, balance, floorMicros: 0, lookbackMs, now });
}

/**
 * The levels that charts draw: the thresholds of `below` and `negative` rules, the highest where several name
 * a severity.
 */
export function balanceThresholds(rules: readonly Rule[], balance: Balance): Ladder<number> {
  const levels: { info?: number; warning?: number; critical?: number } = {};
  for (const rule of rules) {
    const ladder = rule.type === 'below' && rule.balance === balance ? rule.thresholds : {};
    for (const severity of ['info', 'warning', 'critical'] as const) {
      const level = ladder[severity];
      if (level !== undefined) levels[severity] = Math.max(levels[severity] ?? level, level);
    }
    if (rule.type === 'negative' && rule.balance === balance) levels[rule.severity] ??= 0;
  }
  return levels;
}
