import type { Micros } from '../domain/money.ts';
import type { Endpoint } from '../providers/account-service/endpoints.ts';
import { spentBetween } from './burn-plan.ts';
import type { ScenarioAccount } from './scenario.ts';

/** The interface's two balances. */
export type Balance = 'sms' | 'voip';

/**
 * One account of the simulated provider. Spending by time is worked out when somebody asks, from the instants
 * alone, so it costs nothing while nobody does.
 *
 * `scenarioNow` is the scenario's clock in milliseconds since 1970, `now` the real one that limits are measured with.
 */
export class SimulatedAccount {
  readonly id: string;
  readonly authSecret: string;
  currency: string;
  keyValid = true;
  readonly #burn: ScenarioAccount['burn'];
  readonly #startedAt: number;
  /** The balances as they were at the start, plus top-ups, less what requests spent. */
  readonly #funds: Record<Balance, Micros>;
  readonly #windows = new Map<string, RateWindow>();
  readonly #forwarding: { readonly at: number; readonly price: Micros }[] = [];
  /** When the channel last fell idle and began again, and how many messages it has taken since. */
  #forwardingSince = Number.NEGATIVE_INFINITY;
  #forwardedSince = 0;

  constructor(settings: ScenarioAccount, startedAt: number) {
    this.id = settings.id;
    this.authSecret = settings.authSecret;
    this.currency = settings.currency;
    this.#burn = settings.burn;
    this.#startedAt = startedAt;
    this.#funds = { sms: settings.sms, voip: settings.voip };
  }

  /** May be negative: what the interface shows of overdrafts is that they exist. */
  balance(balance: Balance, scenarioNow: number): Micros {
    return this.#funds[balance] - spentBetween(this.#burn[balance], this.#startedAt, scenarioNow);
  }

  add(balance: Balance, micros: Micros): void {
    this.#funds[balance] += micros;
  }

  setBalance(balance: Balance, micros: Micros, scenarioNow: number): void {
    this.#funds[balance] += micros - this.balance(balance, scenarioNow);
  }

  /** Takes one place under the endpoint's limit; false when the account has used it up. */
  takePlace(endpoint: Endpoint, now: number): boolean {
    return this.window(endpoint).take(now);
  }

  /** The account's limit for the endpoint's group. Groups never share one: OTP messaging is measured apart. */
  window(endpoint: Endpoint): RateWindow {
    const known = this.#windows.get(endpoint.group);
    if (known !== undefined) return known;
    const fresh = new RateWindow(endpoint.requestsPerSecond);
    this.#windows.set(endpoint.group, fresh);
    return fresh;
  }

  /** Queues one accepted message for the channel; it is paid for when it is passed on. */
  forward(perSecond: number, price: Micros, now: number): void {
    const freeAt = this.#forwardingSince + (this.#forwardedSince * 1000) / perSecond;
    if (now >= freeAt) {
      this.#forwardingSince = now;
      this.#forwardedSince = 0;
    }
    // Counted from the beginning: adding up sixtieths of a second would drift.
    const at = this.#forwardingSince + (this.#forwardedSince * 1000) / perSecond;
    this.#forwardedSince += 1;
    this.#forwarding.push({ at, price });
  }

  /** Pays for the messages that were passed on by now. */
  settleForwarded(now: number): void {
    while (this.#forwarding.length > 0) {
      const [next] = this.#forwarding;
      if (next === undefined || next.at > now) return;
      this.#forwarding.shift();
      this.#funds.sms -= next.price;
    }
  }

  /** Messages that were accepted and not passed on yet. */
  get waitingMessages(): number {
    return this.#forwarding.length;
  }
}

const windowMs = 1000;

/**
 * A limit of so many requests in any one second: a request is accepted when fewer than `perSecond` were accepted in the
 * second before it. Refused requests count for nothing.
 *
 * The interface names the limits and not how they are measured: the sliding window is the simulator's own choice.
 */
export class RateWindow {
  readonly perSecond: number;
  /** The instants of those that were accepted in the last second. */
  readonly #accepted: number[] = [];

  constructor(perSecond: number) {
    this.perSecond = perSecond;
  }

  /** Takes one place at `now` (milliseconds that never go back); false when the limit is reached. */
  take(now: number): boolean {
    while ((this.#accepted[0] ?? now) <= now - windowMs) this.#accepted.shift();
    const isFree = this.remaining > 0;
    if (isFree) this.#accepted.push(now);
    return isFree;
  }

  /** How many requests would still be accepted at the instant of the last `take`. */
  get remaining(): number {
    return this.perSecond - this.#accepted.length;
  }
}
