import { type Alert, alertKey, alertNameOf } from '../domain/alert.ts';
import type { AlertName } from '../domain/operator.ts';
import type { Batch } from '../ports/store.ts';

/**
 * Keys that changed and are not known to be stored. What changes while a batch is written goes into the next;
 * a batch that failed, or whose outcome is unknown, is put back.
 */
export class Unsaved {
  #changed = new Set<string>();
  #taken: ReadonlySet<string> = nothing;

  get size(): number {
    return this.#changed.size;
  }

  /** In the order in which they changed first. */
  keys(): Iterable<string> {
    return this.#changed;
  }

  get allStored(): boolean {
    return this.#changed.size === 0 && this.#taken.size === 0;
  }

  add(key: string): void {
    this.#changed.add(key);
  }

  has(key: string): boolean {
    return this.#changed.has(key) || this.#taken.has(key);
  }

  /** The changed keys, at most `most`. The end of one batch comes before the next is taken. */
  take(most = Number.POSITIVE_INFINITY): ReadonlySet<string> {
    if (this.#taken.size > 0) throw new Error('a batch was taken before the last one ended');
    if (this.#changed.size <= most) {
      this.#taken = this.#changed;
      this.#changed = new Set();
      return this.#taken;
    }
    this.#taken = new Set([...this.#changed].slice(0, most));
    for (const key of this.#taken) this.#changed.delete(key);
    return this.#taken;
  }

  stored(): void {
    this.#taken = nothing;
  }

  putBack(): void {
    if (this.#taken.size === 0) return;
    this.#changed = new Set([...this.#taken, ...this.#changed]);
    this.#taken = nothing;
  }
}

const nothing: ReadonlySet<string> = new Set();

export interface Taken<Row> {
  readonly rows: readonly Row[];
  readonly removed: readonly string[];
}

/** Notes what was set or removed. Records are values: a change sets another one. */
export class Records<Row> {
  readonly unsaved = new Unsaved();
  readonly #rows = new Map<string, Row>();

  get size(): number {
    return this.#rows.size;
  }

  get(key: string): Row | undefined {
    return this.#rows.get(key);
  }

  has(key: string): boolean {
    return this.#rows.has(key);
  }

  keys(): IterableIterator<string> {
    return this.#rows.keys();
  }

  values(): IterableIterator<Row> {
    return this.#rows.values();
  }

  set(key: string, row: Row): void {
    this.#rows.set(key, row);
    this.unsaved.add(key);
  }

  /** Keeps a record that needs no write. */
  hold(key: string, row: Row): void {
    this.#rows.set(key, row);
  }

  delete(key: string): void {
    this.#rows.delete(key);
    this.unsaved.add(key);
  }

  forget(key: string): void {
    if (!this.unsaved.has(key)) this.#rows.delete(key);
  }

  take(most?: number): Taken<Row> {
    const rows: Row[] = [];
    const removed: string[] = [];
    for (const key of this.unsaved.take(most)) {
      const row = this.#rows.get(key);
      if (row === undefined) removed.push(key);
      else rows.push(row);
    }
    return { rows, removed };
  }
}

export type AlertIdentity = Pick<Alert, 'account' | 'rule'>;

export class AlertRecords {
  readonly #records = new Records<Alert>();
  readonly #accounts = new Map<string, Map<string, Alert>>();
  readonly unsaved = this.#records.unsaved;

  get(account: string, rule: string): Alert | undefined {
    return this.#accounts.get(account)?.get(rule);
  }

  /** By rule; inactive ones without a past are not kept. */
  of(account: string): ReadonlyMap<string, Alert> {
    return this.#accounts.get(account) ?? none;
  }

  *values(): Iterable<Alert> {
    for (const alerts of this.#accounts.values()) yield* alerts.values();
  }

  changed(): readonly Alert[] {
    return [...this.unsaved.keys()].flatMap((key) => this.#records.get(key) ?? []);
  }

  set(alert: Alert): void {
    this.hold(alert);
    this.unsaved.add(alertKey(alert.account, alert.rule));
  }

  /** Keeps values that need no write, such as the newest numbers. */
  hold(alert: Alert): void {
    this.#records.hold(alertKey(alert.account, alert.rule), alert);
    const known = this.#accounts.get(alert.account);
    if (known === undefined) this.#accounts.set(alert.account, new Map([[alert.rule, alert]]));
    else known.set(alert.rule, alert);
  }

  delete({ account, rule }: AlertName): void {
    this.#records.delete(alertKey(account, rule));
    const alerts = this.#accounts.get(account);
    alerts?.delete(rule);
    if (alerts?.size === 0) this.#accounts.delete(account);
  }

  take(): { readonly rows: readonly Alert[]; readonly removed: readonly AlertName[] } {
    const { rows, removed } = this.#records.take();
    return { rows, removed: removed.map(alertNameOf) };
  }
}

const none: ReadonlyMap<string, Alert> = new Map();

type Polls = Batch['polls'];

/** While the database cannot be written, older polls are dropped, for memory; alerts never are. */
const maxKept = 50_000;

/** Oldest first. Taken and put back as in `Unsaved`. */
export class PollNotes {
  #polls: Polls[number][] = [];
  #taken: Polls = [];
  #urgent = false;

  get size(): number {
    return this.#polls.length;
  }

  get urgent(): boolean {
    return this.#urgent;
  }

  get allStored(): boolean {
    return this.#polls.length === 0 && this.#taken.length === 0;
  }

  add(poll: Polls[number]): void {
    this.#polls.push(poll);
    // A refused key makes its account wait: a crash must not forget that.
    this.#urgent ||= poll.poll.outcome === 'auth_failed';
    this.#keepNewest();
  }

  /** Somebody waits until they are stored. */
  hurry(): void {
    this.#urgent = true;
  }

  /** All of them, or the oldest `most`. */
  take(most = Number.POSITIVE_INFINITY): Polls {
    if (this.#taken.length > 0) throw new Error('polls were taken before the last batch ended');
    this.#taken = this.#polls.slice(0, most);
    this.#polls = this.#polls.slice(most);
    this.#urgent &&= this.#polls.length > 0;
    return this.#taken;
  }

  stored(): void {
    this.#taken = [];
  }

  putBack(): void {
    this.#polls = [...this.#taken, ...this.#polls];
    this.#taken = [];
    this.#keepNewest();
  }

  #keepNewest(): void {
    if (this.#polls.length > maxKept) this.#polls.splice(0, this.#polls.length - maxKept);
  }
}
