import type { Micros } from './money.ts';
import type { Balance } from './reading.ts';
import type { Severity } from './severity.ts';
import { dayMs } from './time.ts';

/** The longest name or comment of a person who orders something. */
export const maxSaidLength = 500;

export interface Refusal {
  /** `changed`: the alert is no longer as the person saw it. `repeated`: this very order was carried out before. */
  readonly refused: 'not-found' | 'invalid' | 'not-now' | 'changed' | 'repeated';
  readonly why: string;
  readonly about?: 'account' | 'rule' | 'window' | 'everything' | 'expected';
}

export function isRefusal(answer: object | null): answer is Refusal {
  return answer !== null && 'refused' in answer;
}

export function refuse(
  refused: Refusal['refused'],
  why: string,
  about?: NonNullable<Refusal['about']>,
): Refusal {
  return about === undefined ? { refused, why } : { refused, why, about };
}

export interface AlertName {
  readonly account: string;
  readonly rule: string;
}

/** An alert as a person saw it when they gave an order about it; an absent part is not compared. */
export interface SeenAlert {
  /** Null if the alert was pending. */
  readonly incident?: string | null | undefined;
  readonly severity?: Severity | undefined;
  /** The person who had acknowledged it: compared when it is given back. */
  readonly holder?: string | undefined;
}

/** The alert that a person means, as they saw it. */
export interface SeenAlertName extends AlertName {
  readonly seen?: SeenAlert | undefined;
}

/** The reach of a silence: alerts that fire now, and the accounts that it covers. */
export interface Muted {
  readonly alerts: readonly AlertName[];
  readonly accounts: readonly string[];
}

/** `epoch`: that of the owner that it is for. Orders of 0.3 and before have none: they are for whoever owned the accounts when they were given. */
export interface HandOver {
  readonly at: number;
  readonly epoch?: number | undefined;
}

/** A top-up that a person announced: ordered, but not on the balance yet. */
export interface ExpectedTopUp {
  readonly id: string;
  readonly account: string;
  readonly balance: Balance;
  readonly amountMicros: Micros;
  /** When it should have arrived, milliseconds since 1970. */
  readonly by: number;
  readonly orderedAt: number;
  readonly orderedBy: string;
  /** Such as an order number. */
  readonly comment: string;
  /** How much the balance has risen since. */
  readonly receivedMicros: Micros;
}

/** A run that a person announced: spending of `amountMicros` more than usual from one instant to another. */
export interface AnnouncedRun
  extends Pick<ExpectedTopUp, 'id' | 'account' | 'balance' | 'amountMicros' | 'comment'> {
  readonly startsAt: number;
  readonly endsAt: number;
  readonly announcedAt: number;
  readonly announcedBy: string;
  /** Spent in it so far, and what is usual in that time. */
  readonly spentMicros: Micros;
  readonly usualMicros: Micros;
}

/** The spending beyond the usual; below zero if less than usual was spent. */
export function tookOf({ spentMicros, usualMicros }: AnnouncedRun): Micros {
  return spentMicros - usualMicros;
}

/** Whether the run is still listed, and reported if it was far off: until a day after its end. */
export function isReported({ endsAt }: AnnouncedRun, now: number): boolean {
  return now < endsAt + dayMs;
}

/** The spending is far off if it differs by more than this share of the announced amount. */
export const farOff = 0.5;

/** A balance rises by the payment less what was spent before the next reading, and a bank may keep a fee. */
const arrivedShare = 0.8;

export function hasArrived({ amountMicros, receivedMicros }: ExpectedTopUp): boolean {
  return receivedMicros >= amountMicros * arrivedShare;
}

/** The part of these top-ups that has not come yet. */
export function missingOf(...topUps: readonly ExpectedTopUp[]): Micros {
  return topUps.reduce((sum, { amountMicros, receivedMicros }) => sum + amountMicros - receivedMicros, 0);
}

/** Money still to come to a balance within [at, until]; 0 if nothing is expected. */
export function expectedBetween(
  expected: readonly ExpectedTopUp[],
  { balance, at, until }: { readonly balance: Balance; readonly at: number; readonly until: number },
): Micros {
  return missingOf(
    ...expected.filter((topUp) => topUp.balance === balance && topUp.by >= at && topUp.by <= until),
  );
}

/** One thing that a person or a program of theirs did to a running daemon. */
export interface AuditEntry {
  readonly at: number;
  /** The person's name as a trusted proxy or a chat gave it, else as it was typed, else the door by which the order came. */
  readonly by: string;
  /** Address of the client, as a trusted proxy or the connection names it, or the person and the chat; null for orders left in the database. */
  readonly from: string | null;
  readonly action: string;
  readonly account: string | null;
  readonly rule: string | null;
  /** Further parts of the order, such as the comment and the length of a silence. */
  readonly detail: string;
}

/** The rights of a person who is signed in: a viewer looks, an operator changes things too. */
export type Role = 'operator' | 'viewer';

/** A browser that is signed in. Instants are milliseconds since 1970. */
export interface KnownSession {
  readonly id: string;
  readonly role: Role;
  readonly endsAt: number;
  /** When it was opened or last made longer. */
  readonly usedAt: number;
  /** Address of the client, and what its browser calls itself. */
  readonly from: string;
  readonly agent: string;
}
