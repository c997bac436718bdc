import type { Alert } from '../domain/alert.ts';
import type { AccountState } from '../domain/reading.ts';
import { alertKindOf } from '../rules/registry.ts';

const minAccounts = 3;

interface CountedAccount {
  readonly id: string;
  readonly pollIntervalMs: number;
  readonly poll: AccountState;
  readonly alerts: ReadonlyMap<string, Alert>;
}

/** Counts of a provider's accounts. They are updated as each account changes: looking at all of them each time would be too slow. */
export class ProviderCounts {
  accounts = 0;
  maxIntervalMs = 0;
  /** Accounts that do not answer; a refused key is an answer. */
  failing = 0;
  /** Accounts with an open incident that says that there are no readings. */
  readonly withoutReadings = new Set<string>();
  /** Those of them whose staleness no refused key explains. */
  readonly stale = new Set<string>();
  /** The number of accounts by the reason of their last failure. */
  readonly reasons = new Map<string, number>();

  areMany(count: number): boolean {
    return count >= minAccounts && count * 2 >= this.accounts;
  }

  add(account: CountedAccount): void {
    this.accounts += 1;
    this.maxIntervalMs = Math.max(this.maxIntervalMs, account.pollIntervalMs);
    this.#count(account.poll, 1);
    this.look(account);
  }

  polled(before: AccountState, after: AccountState): void {
    this.#count(before, -1);
    this.#count(after, 1);
  }

  look({ id, alerts }: CountedAccount): void {
    let symptom = false;
    let explained = false;
    for (const alert of alerts.values()) {
      if (alert.incident === null) continue;
      const kind = alertKindOf(alert).staleness;
      symptom ||= kind === 'symptom';
      explained ||= kind === 'cause';
    }
    setHas(this.withoutReadings, id, symptom);
    setHas(this.stale, id, symptom && !explained);
  }
  get commonestReason(): string | null {
    const [commonest] = [...this.reasons].toSorted(([, left], [, right]) => right - left);
    return commonest?.[0] ?? null;
  }

  #count({ consecutiveFailures, outcome, failure }: AccountState, by: 1 | -1): void {
    if (consecutiveFailures > 0 && outcome !== 'auth_failed') this.failing += by;
    if (failure === null) return;
    const count = (this.reasons.get(failure) ?? 0) + by;
    if (count === 0) this.reasons.delete(failure);
    else this.reasons.set(failure, count);
  }
}

function setHas(set: Set<string>, id: string, has: boolean): void {
  if (has) set.add(id);
  else set.delete(id);
}
