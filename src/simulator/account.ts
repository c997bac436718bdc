import { getOrMake } from '../domain/get-or-make.ts';
import type { Micros } from '../domain/money.ts';
import { dayMs, hourMs } from '../domain/time.ts';
import type { Endpoint } from '../providers/account-service/endpoints.ts';
import type { ScenarioAccount } from './scenario.ts';

export type Balance = 'sms' | 'voip';

/**
 * One account of the simulated provider. Spending over time is computed on demand, from the instants alone, so it costs nothing in between.
 *
 * `scenarioNow` is the scenario's clock in milliseconds since 1970; `now` is the real clock, by which limits are measured.
 */
export class SimulatedAccount {
  readonly id: string;
  currency: string;
  keyValid = true;
  readonly #burn: ScenarioAccount['burn'];
  readonly #startedAt: number;
  /** The balances at the start, plus top-ups, less the spending of requests. */
  readonly #funds: Record<Balance, Micros>;
  readonly #windows = new Map<string, RateWindow>();
  /** Messages for the channel since it was last idle: how many it accepted, and for how many it was paid. */
  #forwarding = { since: Number.NEGATIVE_INFINITY, accepted: 0, paid: 0, perSecond: 1, price: 0 };

  constructor({ id, currency, burn, sms, voip }: ScenarioAccount, startedAt: number) {
    this.id = id;
    this.currency = currency;
    this.#burn = burn;
    this.#startedAt = startedAt;
    this.#funds = { sms, voip };
  }

  /** May be negative: the interface shows that overdrafts exist, and no more. */
  balance(balance: Balance, scenarioNow: number): Micros {
    return this.#funds[balance] - spentBetween(this.#burn[balance], this.#startedAt, scenarioNow);
  }

  add(balance: Balance, micros: Micros): void {
    this.#funds[balance] += micros;
  }

  setBalance(balance: Balance, micros: Micros, scenarioNow: number): void {
    this.#funds[balance] += micros - this.balance(balance, scenarioNow);
  }

  /** The account's limit for the endpoint's group. Groups never share a limit: OTP messaging is measured separately. */
  window({ group, requestsPerSecond }: Endpoint): RateWindow {
    return getOrMake(this.#windows, group, () => new RateWindow(requestsPerSecond));
  }

  /** Queues one accepted message for the channel; it is paid for when it is passed on. */
  forward(perSecond: number, price: Micros, now: number): void {
    this.settleForwarded(now);
    const { since, accepted } = this.#forwarding;
    if (now >= since + (accepted * 1000) / perSecond)
      this.#forwarding = { since: now, accepted: 0, paid: 0, perSecond, price };
    this.#forwarding.accepted += 1;
  }

  /** Pays for the messages that were passed on by now. Counts from the beginning, because adding sixtieths of a second would drift. */
  settleForwarded(now: number): void {
    const queue = this.#forwarding;
    while (queue.paid < queue.accepted && queue.since + (queue.paid * 1000) / queue.perSecond <= now) {
      queue.paid += 1;
      this.#funds.sms -= queue.price;
    }
  }

  get waitingMessages(): number {
    return this.#forwarding.accepted - this.#forwarding.paid;
  }
}

const windowMs = 1000;

/**
 * A limit of requests per second: a request is accepted if fewer than `perSecond` were accepted in the second before it. Refused requests do
 * not count.
 *
 * The interface names the limits, but not how they are measured: the sliding window is the simulator's own choice.
 */
export class RateWindow {
  readonly perSecond: number;
  /** The instants of the requests that were accepted in the last second. */
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

  get remaining(): number {
    return this.perSecond - this.#accepted.length;
  }
}

/** Spending by the hour of the day (UTC): 24 rates in millionths per hour, index 0 from 00:00. */
export type HourlyRates = readonly Micros[];

/**
 * The spending between two instants (milliseconds since 1970, `until` not before `since`), as whole millionths. Exact: it depends on the two
 * instants alone, so that spending in many small steps adds up to the same sum.
 */
export function spentBetween(rates: HourlyRates, since: number, until: number): Micros {
  // Counted from the midnight before, so that the sums stay far below what a number holds exactly.
  const midnight = Math.floor(since / dayMs) * dayMs;
  return spentSinceMidnight(rates, until - midnight) - spentSinceMidnight(rates, since - midnight);
}

function spentSinceMidnight(rates: HourlyRates, elapsedMs: number): Micros {
  const hours = Math.floor(elapsedMs / hourMs);
  const fullDays = Math.floor(hours / 24);
  const hourOfDay = hours % 24;
  const restMs = Math.floor(elapsedMs - hours * hourMs);
  return fullDays * sum(rates) + sum(rates.slice(0, hourOfDay)) + shareOfHour(rates[hourOfDay] ?? 0, restMs);
}

/** `rate · ms / hour`, rounded down, without a product that is too large to be exact. */
function shareOfHour(rate: Micros, ms: number): Micros {
  const whole = Math.floor(rate / hourMs);
  const rest = rate - whole * hourMs;
  return whole * ms + Math.floor((rest * ms) / hourMs);
}

function sum(rates: readonly number[]): number {
  let total = 0;
  for (const rate of rates) total += rate;
  return total;
}
