import type { BalanceDefinition } from '../../domain/reading.ts';

/** The two balances of the interface, in its order: messages and lookups are paid from the first, calls from the other. */
export const accountServiceBalances: readonly BalanceDefinition[] = [
  { id: 'sms', label: 'SMS', alertsBelowZero: true },
  { id: 'voip', label: 'VoIP', checkLabel: 'VOIP', alertsBelowZero: false },
];
