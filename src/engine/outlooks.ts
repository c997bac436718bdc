import type { Outlook } from '../domain/message.ts';
import type { Balance } from '../domain/reading.ts';
import { spendingLookback } from '../rules/about-rules.ts';
import { outlook } from '../spending/outlook.ts';
import { emptyAt, type WatchedAccount } from './watched-account.ts';

/** What follows from the spending of a balance; null before the first reading. */
export function outlookOf(account: WatchedAccount, balance: Balance, now: number): Outlook | null {
  const { reading } = account.poll;
  if (reading === null) return null;
  const lookbackMs = spendingLookback(account.rules, balance);
  const { log, spending, settings } = account;
  const seen = outlook({ log, spending, reading, balance, floorMicros: emptyAt(settings), lookbackMs, now });
  const neededAt = seen.forecast?.earliest ?? null;
  const known = neededAt !== null && settings.leadTimeMs !== null && seen.emptyAt !== null;
  return { ...seen, payBy: known ? spending.payBy(neededAt, settings.leadTimeMs) : null };
}
