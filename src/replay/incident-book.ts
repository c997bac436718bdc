import type { Alert, Incident } from '../domain/alert.ts';
import { changedIncident, closedIncident, newIncident } from '../domain/incident.ts';
import type { Quantity } from '../domain/quantity.ts';
import type { Balance, Reading } from '../domain/reading.ts';
import type { Rule } from '../domain/rule.ts';
import type { Evaluation } from '../rules/evaluation.ts';
import { outlook, spendingLookback } from '../spending/outlook.ts';
import type { ReadingLog } from '../spending/reading-log.ts';

/** An incident after something about it changed, with the alert it belongs to: what decides about messages. */
export interface IncidentChange {
  readonly at: number;
  readonly incident: Incident;
  /** Null for an event, which belongs to no state. */
  readonly alert: Alert | null;
}

/** An incident of a replay, and how early it came. */
export interface ReplayedIncident {
  /** As it stood at the end: `severity` moves with the ladder, `worstSeverity` is the worst it reached. */
  readonly incident: Incident;
  /** What it fired with. */
  readonly value: Quantity | null;
  readonly threshold: Quantity | null;
  /** When the balance ran empty; null for rules that do not warn of that, and where nothing tells. */
  readonly empty: Emptying | null;
}

/**
 * When the balance of an incident was used up. `reached`: a reading of 0 or less came while it fired (at its
 * start, when it was empty already). `projected`: it did not come to that; so it would have at the burn rate
 * when it fired.
 */
export interface Emptying {
  readonly at: number;
  readonly how: 'reached' | 'projected';
}

type Entry = { -readonly [Key in keyof ReplayedIncident]: ReplayedIncident[Key] };

interface BookAccount {
  readonly id: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly rules: readonly Rule[];
}

/** The incidents of one account during a replay, each with what becomes of its balance. */
export class IncidentBook {
  readonly changes: IncidentChange[] = [];
  readonly incidents: ReplayedIncident[] = [];
  readonly #account: BookAccount;
  readonly #log: ReadingLog;
  readonly #open = new Map<string, Entry>();
  /** Open incidents whose balance has yet to reach zero. */
  #draining: Entry[] = [];

  constructor(account: BookAccount, log: ReadingLog) {
    this.#account = account;
    this.#log = log;
  }

  /** The open incident of a rule; null when it does not fire. */
  openOf(rule: string): string | null {
    return this.#open.get(rule)?.incident.id ?? null;
  }

  open(rule: Rule, alert: Alert, now: number): void {
    const incident = this.#newIncident(alert, now);
    const entry: Entry = { incident, value: alert.value, threshold: alert.threshold, empty: null };
    this.incidents.push(entry);
    this.#open.set(rule.id, entry);
    this.#note(incident, { ...alert, incident: incident.id }, now);
    if (rule.type === 'below' || rule.type === 'negative' || rule.type === 'runway') {
      this.#watchDrain(entry, rule.balance);
    }
  }

  /** A thing that happened and has no end. */
  addEvent(alert: Alert, evaluation: Extract<Evaluation, { kind: 'event' }>, now: number): void {
    const { severity, value, threshold } = evaluation;
    const incident = { ...this.#newIncident({ ...alert, severity, value, threshold }, now), event: true };
    this.incidents.push({ incident, value, threshold, empty: null });
    this.#note(incident, null, now);
  }

  update(alert: Alert, rose: boolean, now: number): void {
    const entry = this.#open.get(alert.rule);
    if (entry === undefined) return;
    entry.incident = changedIncident(entry.incident, { alert, rose, now });
    this.#note(entry.incident, alert, now);
  }

  close(alert: Alert, now: number): void {
    const entry = this.#open.get(alert.rule);
    if (entry === undefined) return;
    entry.incident = closedIncident(entry.incident, alert, { resolution: { kind: 'recovered' }, now });
    this.#open.delete(alert.rule);
    this.#draining = this.#draining.filter((other) => other !== entry);
    this.#note(entry.incident, { ...alert, incident: null }, now);
  }

  /** Takes notice of balances that are used up. */
  noteEmpty(reading: Reading): void {
    if (this.#draining.length === 0) return;
    this.#draining = this.#draining.filter((entry) => {
      const { balance } = entry.incident;
      if (balance === null || reading[balance] > 0) return true;
      entry.empty = { at: reading.at, how: 'reached' };
      return false;
    });
  }

  #note(incident: Incident, alert: Alert | null, now: number): void {
    this.changes.push({ at: now, incident, alert });
  }

  /** Notes what the outlook says of the end of the balance, until a reading says better. */
  #watchDrain(entry: Entry, balance: Balance): void {
    const reading = this.#log.latest;
    const { firedAt } = entry.incident;
    if (reading === null) return;
    if (reading[balance] <= 0) {
      entry.empty = { at: firedAt, how: 'reached' };
      return;
    }
    const lookbackMs = spendingLookback(this.#account.rules, balance);
    const seen = outlook({ log: this.#log, reading, balance, floorMicros: 0, lookbackMs, now: firedAt });
    entry.empty = seen.emptyAt === null ? null : { at: seen.emptyAt, how: 'projected' };
    this.#draining.push(entry);
  }

  #newIncident(alert: Alert, now: number): Incident {
    const { id, name, labels } = this.#account;
    return newIncident({
      id: `${id}/${this.incidents.length}`,
      alert,
      accountName: name,
      labels,
      now,
    });
  }
}
