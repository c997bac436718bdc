import { isWorse, type Severity } from '../domain/severity.ts';
import { dayMs } from '../domain/time.ts';
import { dueGroup } from '../domain/urgency.ts';
import type { Reader } from '../wording/moments.ts';
import { phrases, say } from '../wording/phrase.ts';
import { leadingBalance } from '../wording/quantity-wording.ts';
import type { AccountView, BriefAccount } from './views.ts';

/** The sums of all accounts, and those of them that are shown. */
export interface AccountSummary {
  readonly accounts: number;
  readonly firing: number;
  /** Accounts that cannot be read, and those that were not polled yet. */
  readonly failing: number;
  readonly waiting: number;
  /** Accounts whose balance is empty, or may be within a day, and of which no alert fires. */
  readonly endingSoon: number;
  readonly worst: Severity | null;
  /** The first to run out of all; null where there is no account. */
  readonly first: BriefAccount | null;
  /** The most urgent first. `day` is asked for where a sparkline is drawn. */
  readonly shown: readonly (BriefAccount & Partial<Pick<AccountView, 'day'>>)[];
}

/** States of an account, the worst first. */
const states = ['critical', 'warning', 'ending', 'info', 'unread', 'pending', 'waiting', 'fine'] as const;
export const accountStates: readonly AccountState[] = states;

export type AccountState = (typeof states)[number];

export function stateOf(account: BriefAccount): AccountState {
  if (account.worst !== null) return account.worst;
  if (account.outcome === null) return 'waiting';
  if (isUnread(account)) return 'unread';
  if (isEndingSoon(account)) return 'ending';
  return account.pending > 0 ? 'pending' : 'fine';
}

/** It was asked for, or pushed to, and is not known as of now. */
export function isUnread({ outcome, isRead }: BriefAccount): boolean {
  return outcome !== null && !isRead;
}

/**
 * The order of accounts: what is empty, all that is due now or cannot be read, also where an alert says so, then by date, and `never`. All that is due now has one place, which
 * no page turned later finds changed. Of what is alike the worst state comes first.
 */
export function urgencyPlace(account: BriefAccount, now: number): number {
  const { isEmpty, actBy } = account.urgency;
  if (isEmpty) return 0;
  return isUnread(account) || dueGroup(account.urgency, now) === 'now' ? 1 : actBy;
}

/** `limit` at most, in the order of accounts. Holds twice as many as it shows. */
export class SummedAccounts {
  readonly #limit: number;
  readonly #now: number;
  readonly #sums = { accounts: 0, firing: 0, failing: 0, waiting: 0, endingSoon: 0 };
  #worst: Severity | null = null;
  #first: BriefAccount | null = null;
  #held: BriefAccount[] = [];

  constructor(limit: number, now: number) {
    this.#limit = limit;
    this.#now = now;
  }

  add(account: BriefAccount): void {
    const { firing, worst, outcome } = account;
    this.#sums.accounts += 1;
    this.#sums.firing += firing;
    if (outcome === null) this.#sums.waiting += 1;
    else if (isUnread(account)) this.#sums.failing += 1;
    if (isEndingSoon(account)) this.#sums.endingSoon += 1;
    if (worst !== null && (this.#worst === null || isWorse(worst, this.#worst))) this.#worst = worst;
    if (this.#first === null || byRunway(account, this.#first) < 0) this.#first = account;
    this.#held.push(account);
    if (this.#held.length > 2 * this.#limit) this.#held = this.#cut();
  }

  end(): AccountSummary {
    return { ...this.#sums, worst: this.#worst, first: this.#first, shown: this.#cut() };
  }

  #cut(): BriefAccount[] {
    return this.#held.sort((left, right) => this.#compare(left, right)).slice(0, this.#limit);
  }

  #compare(left: BriefAccount, right: BriefAccount): number {
    const rank = (account: BriefAccount): number => accountStates.indexOf(stateOf(account));
    return (
      urgencyPlace(left, this.#now) - urgencyPlace(right, this.#now) ||
      rank(left) - rank(right) ||
      byRunway(left, right)
    );
  }
}

/** Whether it is empty, or lasts less than a day by the forecast, and no alert says so: where that is shown it is not called fine. */
export function isEndingSoon(account: BriefAccount): boolean {
  const { worst, isRead } = account;
  return worst === null && isRead && runwayMsOf(account) < dayMs;
}

const says = phrases('summary', {
  ending:
    '{count, plural, one {# account without an alert may be empty} other {# accounts without an alert may be empty}} within a day.',
});

/** A sentence about accounts of which `isEndingSoon` is true; none where there are none. */
export function sayEndingSoon(count: number, reader: Reader): readonly string[] {
  return count > 0 ? [say(says.ending, { count }, reader)] : [];
}

/** As the command line says it. */
export function wordEndingSoon(count: number): readonly string[] {
  return count > 0 ? [`${count} without an alert may be empty within a day`] : [];
}

function runwayMsOf(account: BriefAccount): number {
  return account.runways[leadingBalance(account)]?.runwayMs ?? Number.MAX_VALUE;
}

function byRunway(left: BriefAccount, right: BriefAccount): number {
  return runwayMsOf(left) - runwayMsOf(right) || (left.id < right.id ? -1 : 1);
}

/** All of them are shown. */
export function summarizeAll(accounts: readonly BriefAccount[], now: number): AccountSummary {
  const summary = new SummedAccounts(Number.POSITIVE_INFINITY, now);
  for (const account of accounts) summary.add(account);
  return summary.end();
}

/** Says why a check does not poll an account. */
export const nothingAsked = 'nothing is asked: its readings are pushed';
