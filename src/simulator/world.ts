import type { Clock, Random } from '../ports/clock.ts';
import type { Endpoint } from '../providers/account-service/endpoints.ts';
import { SimulatedAccount } from './account.ts';
import type { Scenario, ScenarioEvent } from './scenario.ts';

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
  /** Undefined disturbs every account. */
  readonly account?: string | undefined;
  readonly fault?: Fault;
  readonly latency?: Scenario['latency'];
  /** Milliseconds since the start, in the scenario's time; without it, the disturbance lasts until `calm`. */
  readonly until?: number;
}

export interface WorldOptions {
  readonly scenario: Scenario;
  readonly clock: Clock;
  readonly random: Random;
}

/** The simulated provider without its HTTP: its accounts, the script, and the present disturbances. */
export class SimulatedWorld {
  readonly prices: Scenario['prices'];
  readonly #accounts = new Map<string, SimulatedAccount>();
  readonly #bySecret = new Map<unknown, SimulatedAccount>();
  /** Ordered by time, in the scenario's milliseconds. Nothing runs by itself: `advance` applies what is due. */
  readonly #timeline: { readonly at: number; readonly event: ScenarioEvent }[] = [];
  readonly #options: WorldOptions;
  readonly #startedAt: number;
  readonly #startedMonotonic: number;
  #disturbances: Disturbance[] = [];

  constructor(options: WorldOptions) {
    const { scenario, clock } = options;
    this.#options = options;
    this.#startedMonotonic = clock.monotonic();
    this.#startedAt = scenario.startAt === undefined ? clock.now() : Date.parse(scenario.startAt);
    for (const event of scenario.events) this.#plan(event.at, event);
    this.prices = scenario.prices;
    for (const settings of scenario.accounts) {
      const account = new SimulatedAccount(settings, this.#startedAt);
      this.#accounts.set(settings.id, account);
      this.#bySecret.set(settings.authSecret, account);
    }
  }

  now(): number {
    return this.#options.clock.monotonic();
  }

  /** The scenario's clock: milliseconds since 1970, sped up. */
  scenarioNow(): number {
    return this.#startedAt + this.#elapsedMs();
  }

  /** Applies the events of the script that are due. To be called before anything is read. */
  advance(): void {
    const elapsedMs = this.#elapsedMs();
    for (let [next] = this.#timeline; next !== undefined && next.at <= elapsedMs; [next] = this.#timeline) {
      const { at, event } = next;
      this.#timeline.shift();
      if (event.every !== undefined) this.#plan(at + event.every, event);
      this.#apply(at, event);
    }
  }

  /** The account that a secret belongs to, whether its key is valid now or not. */
  findBySecret(secret: unknown): SimulatedAccount | null {
    return this.#bySecret.get(secret) ?? null;
  }

  /** Throws for an id that the scenario does not have: a mistake of the caller. */
  account(id: string): SimulatedAccount {
    const account = this.#accounts.get(id);
    if (account === undefined) throw new Error(`the scenario has no account "${id}"`);
    return account;
  }

  /** The account's present fault; the newest one counts. */
  fault(account: string | null): Fault | null {
    return this.#disturbing(account).find(({ fault }) => fault !== undefined)?.fault ?? null;
  }

  latencyMs(account: string | null): number {
    const disturbed = this.#disturbing(account).find(({ latency }) => latency !== undefined)?.latency;
    const { min, max } = disturbed ?? this.#options.scenario.latency;
    return max <= min ? min : min + (max - min) * this.#options.random.fraction();
  }

  disturb(disturbance: Disturbance): void {
    this.#disturbances = [disturbance, ...this.#disturbing()];
  }

  calm(picks: (disturbance: Disturbance) => boolean): void {
    this.#disturbances = this.#disturbances.filter((disturbance) => !picks(disturbance));
  }

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

  /** The present disturbances; of all accounts if none is named. */
  #disturbing(id?: string | null): readonly Disturbance[] {
    const elapsedMs = this.#elapsedMs();
    return this.#disturbances.filter(
      ({ account = id, until = Number.POSITIVE_INFINITY }) =>
        until > elapsedMs && (id === undefined || account === id),
    );
  }

  #plan(at: number, event: ScenarioEvent): void {
    const place = this.#timeline.findIndex((other) => other.at > at);
    this.#timeline.splice(place === -1 ? this.#timeline.length : place, 0, { at, event });
  }

  #apply(at: number, event: ScenarioEvent): void {
    if ('for' in event)
      this.disturb({ account: event.account, until: at + event.for, ...readDisturbance(event) });
    else this.#change(this.account(event.account), event, this.#startedAt + at);
  }

  #change(account: SimulatedAccount, event: ChangeEvent, scenarioNow: number): void {
    if (event.do === 'top-up') account.add(event.balance, event.amount);
    else if (event.do === 'set-balance') account.setBalance(event.balance, event.amount, scenarioNow);
    else if (event.do === 'currency') account.currency = event.currency;
    else account.keyValid = event.do === 'restore-key';
  }
}

type LastingEvent = Extract<ScenarioEvent, { for: number }>;
type ChangeEvent = Exclude<ScenarioEvent, LastingEvent>;

function readDisturbance(event: LastingEvent): Pick<Disturbance, 'fault' | 'latency'> {
  if (event.do === 'latency') return { latency: event.latency };
  const { status } = event;
  if (event.do === 'outage')
    return { fault: event.as === 'http-error' ? { kind: 'http-error', status } : { kind: event.as } };
  const body = typeof event.body === 'string' ? event.body : JSON.stringify(event.body);
  return { fault: { kind: 'body', status, body } };
}
