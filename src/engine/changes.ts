import type { Batch } from '../domain/ports.ts';
import type { PollRecord } from '../domain/reading.ts';
import type { MonitorState } from './state.ts';

/** A storage that cannot be written for long must not fill the memory: older polls are dropped, alerts never. */
const mostUnsavedPolls = 50_000;

/** What has changed since the last commit: keys, whose values are read when the batch is made. */
export class Changes {
  readonly polls: { account: string; poll: PollRecord }[] = [];
  readonly accounts = new Set<string>();
  readonly removedAccounts = new Set<string>();
  readonly backoffs = new Set<string>();
  readonly alerts = new Set<string>();
  readonly removedAlerts = new Map<string, { account: string; rule: string }>();
  readonly incidents = new Set<string>();
  readonly messages = new Set<string>();
  readonly removedMessages = new Set<string>();
  readonly silences = new Set<string>();
  readonly notes = new Map<string, string | null>();
  /** Somebody began to wait because the provider asked to: a crash right after must not forget that. */
  beganToWait = false;

  addPoll(account: string, poll: PollRecord): void {
    this.polls.push({ account, poll });
    this.accounts.add(account);
    if (this.polls.length > mostUnsavedPolls) this.polls.splice(0, this.polls.length - mostUnsavedPolls);
  }

  readonly #beyondReadings = [
    this.removedAccounts,
    this.backoffs,
    this.alerts,
    this.removedAlerts,
    this.incidents,
    this.messages,
    this.removedMessages,
    this.silences,
    this.notes,
  ];

  get empty(): boolean {
    return this.polls.length === 0 && this.accounts.size === 0 && this.onlyReadings;
  }

  /** Polls and what is known of their accounts, if anything. */
  get onlyReadings(): boolean {
    return this.#beyondReadings.every((part) => part.size === 0);
  }

  clear(): void {
    this.polls.length = 0;
    this.beganToWait = false;
    this.accounts.clear();
    for (const part of this.#beyondReadings) part.clear();
  }
}

/** The changes as one transaction's worth of records. The polls are copied: more may end while a commit is retried. */
export function batchOf(state: MonitorState): Batch {
  const { changes } = state;
  return {
    polls: changes.polls.slice(),
    accounts: pick(changes.accounts, (id) => state.accounts.get(id)?.poll),
    removedAccounts: [...changes.removedAccounts],
    backoffs: pick(changes.backoffs, (group) => state.backoffs.get(group)),
    alerts: pick(changes.alerts, (key) => state.alerts.get(key)),
    removedAlerts: [...changes.removedAlerts.values()],
    incidents: pick(changes.incidents, (id) => state.incidents.get(id)),
    messages: pick(changes.messages, (id) => state.messages.get(id)),
    removedMessages: [...changes.removedMessages],
    silences: pick(changes.silences, (id) => state.silences.get(id)),
    notes: Object.fromEntries(changes.notes),
  };
}

function pick<T>(keys: Iterable<string>, find: (key: string) => T | undefined): T[] {
  const found: T[] = [];
  for (const key of keys) {
    const record = find(key);
    if (record !== undefined) found.push(record);
  }
  return found;
}
