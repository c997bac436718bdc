import type { Incident } from '../domain/alert.ts';
import type { HandOver, Refusal } from '../domain/operator.ts';
import type { OutcomeKind } from '../domain/reading.ts';

/** A poll that was asked for; null when the daemon ends first or the account is removed. */
export interface StartedPoll {
  readonly ended: Promise<OutcomeKind | null>;
}

/** The delivery of a test alert's beginning on a channel. */
export interface ToldChannel {
  readonly channel: string;
  /** Null when nobody knows yet. */
  readonly delivered: boolean | null;
  /** Why it was not delivered. */
  readonly reason: string | null;
}

export interface StartedTest {
  readonly incident: Incident;
  readonly resolvesAt: number;
  /** The channels that hear of it at once, once each has answered or taken too long. Null when another daemon sends it. */
  readonly told: Promise<readonly ToldChannel[] | null>;
}

/** Effects of an order beyond the state. A process that only shows what is stored refuses them, or leaves them to the owner. */
export interface OrderReach {
  poll(account: string): StartedPoll | Refusal;
  testAlert(incident: Incident): StartedTest;
  /** Gives the accounts to another daemon that shares the database. */
  handOver(order: HandOver): void;
}
