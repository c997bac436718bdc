import { isWorse, type Severity, severityRank } from '../domain/severity.ts';
import { dayMs } from '../domain/time.ts';
import { byUrgency } from '../domain/urgency.ts';
import type { Reader } from '../wording/moments.ts';
import { phrases, say } from '../wording/phrase.ts';
import { leadingBalance } from '../wording/quantity-wording.ts';
import type { AccountView, BriefAccount } from './views.ts';

/** The sums of all accounts, and those of them that are shown. */
export interface AccountSummary {
  readonly accounts: number;
  readonly firing: number;
  /** Accounts whose last poll failed, and those that were not polled yet. */
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

/** `limit` at most, the most urgent first, of what is alike the worst, then what cannot be read. Holds twice as many as it shows. */
export class SummedAccounts {
  readonly #limit: number;
  readonly #sums = { accounts: 0, firing: 0, failing: 0, waiting: 0, endingSoon: 0 };
  #worst: Severity | null = null;
  #first: BriefAccount | null = null;
  #held: BriefAccount[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(account: BriefAccount): void {
    const { firing, worst, outcome } = account;
    this.#sums.accounts += 1;
    this.#sums.firing += firing;
    if (outcome === null) this.#sums.waiting += 1;
    else if (outcome !== 'ok') this.#sums.failing += 1;
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
    return this.#held.sort(compareAccounts).slice(0, this.#limit);
  }
}

/** Whether it is empty, or lasts less than a day by the forecast, and no alert says so: where that is shown it is not called fine. */
export function isEndingSoon(account: BriefAccount): boolean {
  const { worst, outcome } = account;
  return worst === null && outcome === 'ok' && runwayMsOf(account) < dayMs;
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

function compareAccounts(left: BriefAccount, right: BriefAccount): number {
  // An account that cannot be read comes behind any severity.
  const rank = ({ worst, outcome }: BriefAccount): number =>
    2 * (worst === null ? -1 : severityRank(worst)) + Number(outcome !== 'ok');
  return byUrgency(left.urgency, right.urgency) || rank(right) - rank(left) || byRunway(left, right);
}

function byRunway(left: BriefAccount, right: BriefAccount): number {
  return runwayMsOf(left) - runwayMsOf(right) || (left.id < right.id ? -1 : 1);
}

/** All of them are shown. */
export function summarizeAll(accounts: readonly BriefAccount[]): AccountSummary {
  const summary = new SummedAccounts(Number.POSITIVE_INFINITY);
  for (const account of accounts) summary.add(account);
  return summary.end();
}

/** Says why a check does not poll an account. */
export const nothingAsked = 'nothing is asked: its readings are pushed';
