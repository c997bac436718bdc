import { type Alert, alertKey, alertNameOf, type Incident } from '../domain/alert.ts';
import { getOrMake } from '../domain/get-or-make.ts';
import type { AlertName } from '../domain/operator.ts';
import type { Batch } from '../ports/store.ts';

/**
 * Changes that are not known to be stored, such as the keys of records: each once, in the order in which they first changed. Changes
 * while a batch is written go into the next one; a batch that failed, or whose outcome is unknown, is put back.
 */
export class Unsaved<Item = string> {
  #changed = new Set<Item>();
  #taken: ReadonlySet<Item> = new Set();

  get size(): number {
    return this.#changed.size;
  }

  items(): SetIterator<Item> {
    return this.#changed.values();
  }

  /** The changes of the batch under way first; an item that changed again meanwhile is in both. */
  unstoredParts(): readonly ReadonlySet<Item>[] {
    return [this.#taken, this.#changed];
  }

  get unstored(): number {
    return this.#changed.size + this.#taken.size;
  }

  add(item: Item): void {
    this.#changed.add(item);
  }

  has(item: Item): boolean {
    return this.#changed.has(item) || this.#taken.has(item);
  }

  /** Takes at most `most` changes, those that came first. One batch must end before the next is taken. */
  take(most = Number.POSITIVE_INFINITY): ReadonlySet<Item> {
    if (this.#taken.size > 0) throw new Error('a batch was taken before the last one ended');
    const all = this.#changed;
    const isPart = all.size > most;
    this.#taken = isPart ? new Set(this.items().take(most)) : all;
    if (isPart) this.drop(this.#taken);
    else this.#changed = new Set();
    return this.#taken;
  }

  protected drop(items: Iterable<Item>): void {
    for (const item of items) this.#changed.delete(item);
  }

  stored(): void {
    this.#taken = new Set();
  }

  putBack(): void {
    if (this.#taken.size === 0) return;
    this.#changed = new Set([...this.#taken, ...this.#changed]);
    this.#taken = new Set();
  }
}

export interface Taken<Row> {
  readonly rows: readonly Row[];
  readonly removed: readonly string[];
}

/** Records by key, with what was set or removed. Records are values: a change sets another one. */
export class Records<Row> extends Map<string, Row> {
  readonly unsaved = new Unsaved();

  override set(key: string, row: Row): this {
    this.unsaved.add(key);
    return super.set(key, row);
  }

  /** Keeps a record that needs no write. */
  setInMemory(key: string, row: Row): void {
    super.set(key, row);
  }

  override delete(key: string): boolean {
    this.unsaved.add(key);
    return super.delete(key);
  }

  forget(key: string): void {
    if (!this.unsaved.has(key)) super.delete(key);
  }

  take(most?: number): Taken<Row> {
    const rows: Row[] = [];
    const removed: string[] = [];
    for (const key of this.unsaved.take(most)) {
      const row = this.get(key);
      if (row === undefined) removed.push(key);
      else rows.push(row);
    }
    return { rows, removed };
  }
}

/** Incidents, also by alert: one that fires again may have an incident whose end is not notified everywhere. */
export class IncidentRecords extends Records<Incident> {
  readonly #ofAlerts = new Map<string, Set<string>>();

  ofAlert(account: string, rule: string): ReadonlySet<string> {
    return this.#ofAlerts.get(alertKey(account, rule)) ?? noIncidents;
  }

  override set(id: string, incident: Incident): this {
    this.#file(incident);
    return super.set(id, incident);
  }

  override setInMemory(id: string, incident: Incident): void {
    super.setInMemory(id, incident);
    this.#file(incident);
  }

  override delete(id: string): boolean {
    this.#unfile(id);
    return super.delete(id);
  }

  override forget(id: string): void {
    if (!this.unsaved.has(id)) this.#unfile(id);
    super.forget(id);
  }

  #file({ id, account, rule }: Incident): void {
    getOrMake(this.#ofAlerts, alertKey(account, rule), () => new Set<string>()).add(id);
  }

  #unfile(id: string): void {
    const incident = this.get(id);
    if (incident === undefined) return;
    const key = alertKey(incident.account, incident.rule);
    const ids = this.#ofAlerts.get(key);
    ids?.delete(id);
    if (ids?.size === 0) this.#ofAlerts.delete(key);
  }
}

const noIncidents: ReadonlySet<string> = new Set();

/** Alerts by account and rule. The key of an alert is made only when it is to be stored, because its newest numbers are kept at each poll. */
export class AlertRecords {
  readonly #accounts = new Map<string, Map<string, Alert>>();
  #changed = new Set<string>();
  readonly unsaved = new Unsaved();

  get(account: string, rule: string): Alert | undefined {
    return this.#accounts.get(account)?.get(rule);
  }

  /** Keyed by rule; inactive alerts without a past are not kept. */
  of(account: string): ReadonlyMap<string, Alert> {
    return this.#accounts.get(account) ?? none;
  }

  *values(): Iterable<Alert> {
    for (const alerts of this.#accounts.values()) yield* alerts.values();
  }

  /** The alerts that changed since the last call: those of a turn are few, while all that are unsaved may be many. */
  takeChanged(): readonly Alert[] {
    if (this.#changed.size === 0) return [];
    const changed = this.#changed;
    this.#changed = new Set();
    return this.#find(changed).rows;
  }

  set(alert: Alert): void {
    this.setInMemory(alert);
    const key = alertKey(alert.account, alert.rule);
    for (const changes of [this.#changed, this.unsaved]) changes.add(key);
  }

  /** Keeps values that need no write, such as the newest numbers. */
  setInMemory(alert: Alert): void {
    getOrMake(this.#accounts, alert.account, () => new Map<string, Alert>()).set(alert.rule, alert);
  }

  delete({ account, rule }: AlertName): void {
    this.unsaved.add(alertKey(account, rule));
    const alerts = this.#accounts.get(account);
    alerts?.delete(rule);
    if (alerts?.size === 0) this.#accounts.delete(account);
  }

  take(): { readonly rows: readonly Alert[]; readonly removed: readonly AlertName[] } {
    return this.#find(this.unsaved.take());
  }

  #find(keys: Iterable<string>) {
    const rows: Alert[] = [];
    const removed: AlertName[] = [];
    for (const name of [...keys].map(alertNameOf)) {
      const alert = this.get(name.account, name.rule);
      if (alert === undefined) removed.push(name);
      else rows.push(alert);
    }
    return { rows, removed };
  }
}

const none: ReadonlyMap<string, Alert> = new Map();

/** While the database cannot be written, polls beyond this are dropped to save memory, the oldest first; alerts never are. */
const maxKept = 50_000;

/** Polls that are not stored, oldest first. */
export class PollNotes extends Unsaved<Batch['polls'][number]> {
  #urgent = false;

  get urgent(): boolean {
    return this.#urgent;
  }

  override add(poll: Batch['polls'][number]): void {
    super.add(poll);
    // A refused key makes its account wait: a crash must not forget that.
    this.#urgent ||= poll.poll.outcome === 'auth_failed';
    this.#keepNewest();
  }

  /** Called when somebody waits until the polls are stored. */
  hurry(): void {
    this.#urgent = true;
  }

  override take(most?: number): ReadonlySet<Batch['polls'][number]> {
    const taken = super.take(most);
    this.#urgent &&= this.size > 0;
    return taken;
  }

  override putBack(): void {
    super.putBack();
    this.#keepNewest();
  }

  #keepNewest(): void {
    if (this.size > maxKept) this.drop(this.items().take(this.size - maxKept));
  }
}
