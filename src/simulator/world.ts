import type { Clock, Random } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Endpoint } from '../providers/account-service/endpoints.ts';
import { SimulatedAccount } from './account.ts';
import type { Scenario, ScenarioEvent } from './scenario.ts';

/** How answers go wrong while a fault is on. */
export type Fault =
  | { readonly kind: 'http-error'; readonly status: number }
  | { readonly kind: 'hang' | 'reset' | 'truncated' }
  | {
      readonly kind: 'body';
      readonly status: number;
      readonly body: string;
      readonly headers?: Readonly<Record<string, string>>;
    };

interface Disturbance {
  /** Null disturbs every account. */
  readonly account: string | null;
  readonly fault: Fault | null;
  readonly latency: Scenario['latency'] | null;
  /** What began it; null where a test did. */
  readonly cause: ScenarioEvent | null;
}

export interface WorldOptions {
  readonly scenario: Scenario;
  readonly clock: Clock;
  readonly random: Random;
  /** Gets the script's events; never of secrets. */
  readonly log?: Log;
}

/** The simulated provider without its HTTP: accounts, the script, and what is wrong at the moment. */
export class SimulatedWorld {
  readonly prices: Scenario['prices'];
  readonly #accounts = new Map<string, SimulatedAccount>();
  readonly #bySecret = new Map<unknown, SimulatedAccount>();
  /** What begins and ends, in the order of time. Nothing runs by itself: whoever asks gets what came due meanwhile. */
  readonly #timeline: TimelineStep[] = [];
  readonly #options: WorldOptions;
  readonly #startedAt: number;
  readonly #startedMonotonic: number;
  #disturbances: Disturbance[] = [];

  constructor(options: WorldOptions) {
    const { scenario, clock } = options;
    this.#options = options;
    this.#startedMonotonic = clock.monotonic();
    this.#startedAt = scenario.startAt === undefined ? clock.now() : Date.parse(scenario.startAt);
    for (const event of scenario.events) this.#plan({ at: event.at, phase: 'begin', event });
    this.prices = scenario.prices;
    for (const settings of scenario.accounts) {
      const account = new SimulatedAccount(settings, this.#startedAt);
      this.#accounts.set(settings.id, account);
      this.#bySecret.set(settings.authSecret, account);
    }
  }

  /** The clock that limits are measured with. */
  now(): number {
    return this.#options.clock.monotonic();
  }

  /** The scenario's clock: milliseconds since 1970, sped up. */
  scenarioNow(): number {
    return this.#startedAt + this.#elapsedMs();
  }

  /** Lets the script catch up with the clock. To be called before anything is read. */
  advance(): void {
    const elapsedMs = this.#elapsedMs();
    for (let [next] = this.#timeline; next !== undefined && next.at <= elapsedMs; [next] = this.#timeline) {
      this.#timeline.shift();
      this.#follow(next);
      this.#apply(next);
    }
  }

  /** The account that a secret belongs to, whether its key is valid at the moment or not. */
  findBySecret(secret: unknown): SimulatedAccount | null {
    return this.#bySecret.get(secret) ?? null;
  }

  /** Throws for an id that the scenario does not have: a mistake of the caller. */
  account(id: string): SimulatedAccount {
    const account = this.#accounts.get(id);
    if (account === undefined) throw new Error(`the scenario has no account "${id}"`);
    return account;
  }

  /** What is wrong for the account at the moment; the newest fault holds. */
  fault(account: string | null): Fault | null {
    return this.#newest(account, ({ fault }) => fault);
  }

  /** How late the next answer is, in milliseconds. */
  latencyMs(account: string | null): number {
    const { min, max } = this.#newest(account, ({ latency }) => latency) ?? this.#options.scenario.latency;
    return max <= min ? min : min + (max - min) * this.#options.random.fraction();
  }

  disturb(disturbance: Disturbance): void {
    this.#disturbances.unshift(disturbance);
  }

  /** Ends the disturbances that the caller picks. */
  calm(picks: (disturbance: Disturbance) => boolean): void {
    this.#disturbances = this.#disturbances.filter((disturbance) => !picks(disturbance));
  }

  /** What one accepted request costs, and from which balance. */
  charge(account: SimulatedAccount, endpoint: Endpoint): void {
    const { prices } = this;
    if (endpoint.operation === 'call') account.add('voip', -prices.call);
    if (endpoint.operation === 'lookup') account.add('sms', -prices.lookup);
    if (endpoint.operation !== 'message') return;
    if (endpoint.forwardedPerSecond === undefined) account.add('sms', -prices.message);
    else account.forward(endpoint.forwardedPerSecond, prices.message, this.now());
  }

  #elapsedMs(): number {
    const { clock, scenario } = this.#options;
    return Math.floor((clock.monotonic() - this.#startedMonotonic) * scenario.speed);
  }

  #newest<Value>(account: string | null, read: (disturbance: Disturbance) => Value | null): Value | null {
    for (const disturbance of this.#disturbances) {
      if (disturbance.account !== null && disturbance.account !== account) continue;
      const value = read(disturbance);
      if (value !== null) return value;
    }
    return null;
  }

  /** What a step leads to: the end of what lasts, the next time of what repeats. */
  #follow({ at, phase, event }: TimelineStep): void {
    if (phase === 'end') return;
    if ('for' in event) this.#plan({ at: at + event.for, phase: 'end', event });
    if (event.every !== undefined) this.#plan({ at: at + event.every, phase: 'begin', event });
  }

  #plan(step: TimelineStep): void {
    const place = this.#timeline.findIndex((other) => other.at > step.at);
    this.#timeline.splice(place === -1 ? this.#timeline.length : place, 0, step);
  }

  #apply({ phase, event, at }: TimelineStep): void {
    this.#options.log?.info({ event: event.do, phase, account: event.account }, 'simulated event');
    if (phase === 'end') this.calm(({ cause }) => cause === event);
    else if (event.do === 'outage' || event.do === 'wrong-body' || event.do === 'latency') {
      this.disturb({ account: event.account ?? null, ...readDisturbance(event), cause: event });
    } else this.#change(this.account(event.account), event, this.#startedAt + at);
  }

  #change(account: SimulatedAccount, event: ChangeEvent, scenarioNow: number): void {
    switch (event.do) {
      case 'top-up':
        account.add(event.balance, event.amount);
        break;
      case 'set-balance':
        account.setBalance(event.balance, event.amount, scenarioNow);
        break;
      case 'currency':
        account.currency = event.currency;
        break;
      case 'revoke-key':
      case 'restore-key':
        account.keyValid = event.do === 'restore-key';
    }
  }
}

type LastingEvent = Extract<ScenarioEvent, { do: 'outage' | 'wrong-body' | 'latency' }>;
type ChangeEvent = Exclude<ScenarioEvent, LastingEvent>;

function readDisturbance(event: LastingEvent): Pick<Disturbance, 'fault' | 'latency'> {
  if (event.do === 'latency') return { fault: null, latency: event.latency };
  if (event.do === 'outage') {
    const fault: Fault =
      event.as === 'http-error' ? { kind: 'http-error', status: event.status } : { kind: event.as };
    return { fault, latency: null };
  }
  const body = typeof event.body === 'string' ? event.body : JSON.stringify(event.body);
  return { fault: { kind: 'body', status: event.status, body }, latency: null };
}

/** A point of the script at which something begins or ends. */
interface TimelineStep {
  /** Milliseconds since the start, in the scenario's time. */
  readonly at: number;
  readonly phase: 'begin' | 'end';
  readonly event: ScenarioEvent;
}
