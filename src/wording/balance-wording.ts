import type { Balance } from '../domain/reading.ts';

/** `SMS`, `VoIP`: what stands before "balance", "spending", "runway". */
export function balanceLabel(balance: Balance): string {
  return balance === 'sms' ? 'SMS' : 'VoIP';
}
