import type { Outlook } from '../domain/message.ts';
import type { Balance } from '../domain/reading.ts';
import { spendingLookback } from '../rules/about-rules.ts';
import { outlook } from '../spending/outlook.ts';
import type { WatchedAccount } from './watched-account.ts';

/** What follows from the spending of a balance; null before the first reading. */
export function outlookOf(account: WatchedAccount, balance: Balance, now: number): Outlook | null {
  const { reading } = account.poll;
  if (reading === null) return null;
  const lookbackMs = spendingLookback(account.rules, balance);
  return outlook({ log: account.log, reading, balance, floorMicros: 0, lookbackMs, now });
}
