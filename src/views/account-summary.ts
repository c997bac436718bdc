import { isWorse, type Severity, severityRank } from '../domain/severity.ts';
import { leadingBalance } from '../wording/quantity-wording.ts';
import type { AccountView, BriefAccount } from './views.ts';

/** What all accounts come to, and those of them that are shown. */
export interface AccountSummary {
  readonly accounts: number;
  /** Alerts that fire. */
  readonly firing: number;
  /** Accounts whose last poll failed, and those that were not polled yet. */
  readonly failing: number;
  readonly waiting: number;
  readonly worst: Severity | null;
  /** What runs out first of all; null where there is no account. */
  readonly first: BriefAccount | null;
  /** What runs out first comes first. `day` is asked for where a sparkline is drawn. */
  readonly shown: readonly (BriefAccount & Partial<Pick<AccountView, 'day'>>)[];
}

/**
 * Sums up accounts while they come by, and shows `limit` of them at most: what fires goes before what cannot be read, and that before
 * what runs out first. Of tens of thousands it holds twice as many as it shows.
 */
export function summarize(limit: number) {
  const sums = { accounts: 0, firing: 0, failing: 0, waiting: 0 };
  let worst: AccountSummary['worst'] = null;
  let first: AccountSummary['first'] = null;
  let held: BriefAccount[] = [];
  const cut = () =>
    held.sort((left, right) => urgency(right) - urgency(left) || byRunway(left, right)).slice(0, limit);
  return {
    add(account: BriefAccount): void {
      sums.accounts += 1;
      sums.firing += account.firing;
      if (account.outcome === null) sums.waiting += 1;
      else if (account.outcome !== 'ok') sums.failing += 1;
      if (account.worst !== null && (worst === null || isWorse(account.worst, worst))) worst = account.worst;
      if (first === null || byRunway(account, first) < 0) first = account;
      held.push(account);
      if (held.length > 2 * limit) held = cut();
    },
    end: (): AccountSummary => ({ ...sums, worst, first, shown: cut().sort(byRunway) }),
  };
}

function urgency({ worst, outcome }: BriefAccount): number {
  if (worst !== null) return 2 + severityRank(worst);
  return outcome === 'ok' ? 0 : 1;
}

function byRunway(left: BriefAccount, right: BriefAccount): number {
  const runway = (account: BriefAccount) =>
    account.runways[leadingBalance(account)]?.runwayMs ?? Number.MAX_VALUE;
  return runway(left) - runway(right) || (left.id < right.id ? -1 : 1);
}
