import type { AccountState } from '../domain/account-state.ts';
import type { Alert } from '../domain/alert.ts';
import { alertKindOf } from '../rules/registry.ts';

/** Fewer accounts than this are no provider. */
const minAccounts = 3;

/** An account as far as it is counted. */
interface CountedAccount {
  readonly id: string;
  readonly pollIntervalMs: number;
  readonly poll: AccountState;
  readonly alerts: ReadonlyMap<string, Alert>;
}

/** All accounts of one provider in numbers, counted as each changes: looking at every account for each change would not do. */
export class ProviderCounts {
  accounts = 0;
  maxIntervalMs = 0;
  /** How many do not answer; a refused key is an answer. */
  failing = 0;
  /** Accounts with an open incident that says that there are no readings. */
  readonly withoutReadings = new Set<string>();
  /** Those of them whose refused key does not explain it. */
  readonly stale = new Set<string>();
  /** How often each reason of a failure was the last one. */
  readonly reasons = new Map<string, number>();

  /** At least half of the accounts, and enough to speak of a provider. */
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

  /** An alert of the account may have changed. */
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

  /** Why most of the accounts cannot be read; null where none says. */
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
