import { type Alert, alertKey } from '../domain/alert.ts';
import { Unsaved } from './unsaved.ts';

export type AlertIdentity = Pick<Alert, 'account' | 'rule'>;

/** Alerts by account and rule, with changes noted as in `Records`. */
export class AlertRecords {
  readonly unsaved = new Unsaved();
  readonly #accounts = new Map<string, Map<string, Alert>>();

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

  /** Changed since the last batch. */
  *changed(): Iterable<Alert> {
    for (const key of this.unsaved.keys()) {
      const { account, rule } = identityOf(key);
      const alert = this.get(account, rule);
      if (alert !== undefined) yield alert;
    }
  }

  set(alert: Alert): void {
    this.hold(alert);
    this.unsaved.add(alertKey(alert.account, alert.rule));
  }

  /** Keeps values that need no write, such as the newest numbers. */
  hold(alert: Alert): void {
    const known = this.#accounts.get(alert.account);
    if (known === undefined) this.#accounts.set(alert.account, new Map([[alert.rule, alert]]));
    else known.set(alert.rule, alert);
  }

  delete({ account, rule }: AlertIdentity): void {
    const alerts = this.#accounts.get(account);
    alerts?.delete(rule);
    if (alerts?.size === 0) this.#accounts.delete(account);
    this.unsaved.add(alertKey(account, rule));
  }

  take(): { readonly rows: readonly Alert[]; readonly removed: readonly AlertIdentity[] } {
    const rows: Alert[] = [];
    const removed: AlertIdentity[] = [];
    for (const key of this.unsaved.take()) {
      const identity = identityOf(key);
      const alert = this.get(identity.account, identity.rule);
      if (alert === undefined) removed.push(identity);
      else rows.push(alert);
    }
    return { rows, removed };
  }
}

const none: ReadonlyMap<string, Alert> = new Map();

/** A provider's id may contain a slash, a rule's never does. */
function identityOf(key: string): AlertIdentity {
  const slash = key.lastIndexOf('/');
  return { account: key.slice(0, slash), rule: key.slice(slash + 1) };
}
