import { isWorse, type Severity } from '../domain/severity.ts';
import { dayMs } from '../domain/time.ts';
import { dueGroup } from '../domain/urgency.ts';
import type { Reader } from '../wording/moments.ts';
import { phrases, say } from '../wording/phrase.ts';
import { leadingBalance } from '../wording/quantity-wording.ts';
import type { AccountView, BriefAccount } from './views.ts';

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

/** Whether it was polled, or pushed to, and is not known as of now. */
export function isUnread({ outcome, isRead }: BriefAccount): boolean {
  return outcome !== null && !isRead;
}

/**
 * The place of an account: empty first; then all that is due now or cannot be read, also if an alert says so; then by date; `never` last.
 * All that is due now has one place, so that a page that is turned later finds it unchanged. Among equals the worst state comes first.
 */
export function urgencyPlace(account: BriefAccount, now: number): number {
  const { isEmpty, actBy } = account.urgency;
  if (isEmpty) return 0;
  return isUnread(account) || dueGroup(account.urgency, now) === 'now' ? 1 : actBy;
}

type Shown = BriefAccount & Partial<Pick<AccountView, 'day'>>;

/** The sums of all accounts, and the accounts that are shown. */
export type AccountSummary = Awaited<ReturnType<typeof summarize>>;

/** Sums up all accounts and shows `limit` of them at most; meanwhile it holds at most twice as many. */
export async function summarize(
  slices: Iterable<readonly Shown[]> | AsyncIterable<readonly Shown[]>,
  now: number,
  limit = Number.POSITIVE_INFINITY,
) {
  const sums = noAccounts();
  let held: Shown[] = [];
  const cut = () => held.sort((left, right) => compare(left, right, now)).slice(0, limit);
  for await (const accounts of slices)
    for (const account of accounts) {
      count(account, sums);
      held.push(account);
      if (held.length > 2 * limit) held = cut();
    }
  /** `shown`: the most urgent first. `day` is only read when a sparkline is drawn. */
  return { ...sums, shown: cut() as readonly Shown[] };
}

function noAccounts() {
  return {
    ...{ accounts: 0, firing: 0 },
    /** Accounts that cannot be read, and those that were not polled yet. */
    ...{ failing: 0, waiting: 0 },
    /** Accounts whose balance is empty, or may be within a day, and for which no alert fires. */
    endingSoon: 0,
    worst: null as Severity | null,
    /** The first to run out of all; null when there is no account. */
    first: null as BriefAccount | null,
  };
}

function count(account: BriefAccount, sums: ReturnType<typeof noAccounts>): void {
  const { firing, worst, outcome } = account;
  sums.accounts += 1;
  sums.firing += firing;
  if (outcome === null) sums.waiting += 1;
  else if (isUnread(account)) sums.failing += 1;
  if (isEndingSoon(account)) sums.endingSoon += 1;
  if (worst !== null && (sums.worst === null || isWorse(worst, sums.worst))) sums.worst = worst;
  if (sums.first === null || byRunway(account, sums.first) < 0) sums.first = account;
}

function compare(left: BriefAccount, right: BriefAccount, now: number): number {
  const rank = (account: BriefAccount): number => accountStates.indexOf(stateOf(account));
  return (
    urgencyPlace(left, now) - urgencyPlace(right, now) || rank(left) - rank(right) || byRunway(left, right)
  );
}

/** Whether its balance is empty, or lasts less than a day by the forecast, and no alert says so: where accounts are shown, it is not called fine. */
export function isEndingSoon(account: BriefAccount): boolean {
  const { worst, isRead } = account;
  return worst === null && isRead && runwayMsOf(account) < dayMs;
}

const says = phrases('summary', {
  ending:
    '{count, plural, one {# account without an alert may be empty} other {# accounts without an alert may be empty}} within a day.',
});

/** A sentence about accounts for which `isEndingSoon` is true; empty when there are none. */
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

/** Says why a check does not poll an account. */
export const nothingAsked = 'nothing is asked: its readings are pushed';
