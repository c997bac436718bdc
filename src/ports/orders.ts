import type { HandOver, Refusal } from '../domain/operator.ts';
import type { OutcomeKind } from '../domain/reading.ts';

/** A poll that was asked for; null where the daemon ends first or the account is removed. */
export interface StartedPoll {
  readonly ended: Promise<OutcomeKind | null>;
}

/** What an order sets going beyond the state. Who only shows what is stored refuses, or leaves it to the owner. */
export interface OrderReach {
  poll(account: string): StartedPoll | Refusal;
  /** Gives the accounts to another daemon that shares the database. */
  handOver(order: HandOver): void;
}
