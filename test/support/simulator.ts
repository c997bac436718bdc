import { type Micros, parseMicros } from '../../src/domain/money.ts';
import type { Balance } from '../../src/simulator/account.ts';
import {
  type Simulator as PlainSimulator,
  type SimulatorOptions,
  startSimulator as startPlain,
} from '../../src/simulator/server.ts';
import type { Fault, SimulatedWorld } from '../../src/simulator/world.ts';

/** The simulator with what tests change and count. */
export interface Simulator extends PlainSimulator {
  readonly control: SimulatorControl;
}

export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const counter = new RequestCounter();
  const plain = await startPlain({ ...options, onRequest: (url, account) => counter.count(url, account) });
  return { ...plain, control: createControl(plain.world, counter) };
}

/**
 * Changes to a running simulator. Amounts are decimal strings; unknown accounts and
 * amounts throw.
 */
interface SimulatorControl {
  /** In millionths, as the next answer would say it. */
  balance(account: string, balance: Balance): Micros;
  setBalance(account: string, balance: Balance, amount: string): void;
  topUp(account: string, balance: Balance, amount: string): void;
  setCurrency(account: string, currency: string): void;
  revokeKey(account: string): void;
  restoreKey(account: string): void;
  /** Makes answers go wrong until `recover`; for one account, or for all. */
  fail(fault: Fault, account?: string): void;
  /** Delays answers, in milliseconds, until `recover`. */
  slowDown(latencyMs: number, account?: string): void;
  /** Ends what `fail`, `slowDown` and the script began for the account; without one, everything. */
  recover(account?: string): void;
  /** How many requests arrived, on a path, of an account, or both. */
  requests(filter?: { readonly path?: string; readonly account?: string }): number;
  /** Accepted messages of `/sms/txt/3/send/json` that are not passed on to the channel yet. */
  waitingMessages(account: string): number;
}

function createControl(world: SimulatedWorld, counter: RequestCounter): SimulatorControl {
  /** The account after the script caught up, so that a change made now comes after what the script did before. */
  const current = (id: string) => {
    world.advance();
    const account = world.account(id);
    account.settleForwarded(world.now());
    return account;
  };
  return {
    balance: (account, balance) => current(account).balance(balance, world.scenarioNow()),
    setBalance: (account, balance, amount) =>
      current(account).setBalance(balance, readAmount(amount), world.scenarioNow()),
    topUp: (account, balance, amount) => current(account).add(balance, readAmount(amount)),
    setCurrency: (account, currency) => {
      current(account).currency = currency;
    },
    revokeKey: (account) => {
      current(account).keyValid = false;
    },
    restoreKey: (account) => {
      current(account).keyValid = true;
    },
    fail: (fault, account) => world.disturb({ account, fault }),
    slowDown: (latencyMs, account) => world.disturb({ account, latency: { min: latencyMs, max: latencyMs } }),
    recover: (account) => {
      world.advance();
      world.calm((disturbance) => account === undefined || disturbance.account === account);
    },
    requests: (filter) => counter.total(filter ?? {}),
    waitingMessages: (account) => current(account).waitingMessages,
  };
}

function readAmount(text: string): Micros {
  const micros = parseMicros(text);
  if (micros === null) throw new Error(`"${text}" is no amount`);
  return micros;
}

/** Counts requests by path and account. Paths beyond a hundred are counted together: they come from outside. */
class RequestCounter {
  readonly #counts = new Map<string, Map<string | null, number>>();

  count(url: string, account: string | null): void {
    const path = this.#counts.has(url) || this.#counts.size < 100 ? url : '…';
    const counts = this.#counts.get(path) ?? new Map<string | null, number>();
    this.#counts.set(path, counts);
    counts.set(account, (counts.get(account) ?? 0) + 1);
  }

  total({ path, account }: { readonly path?: string; readonly account?: string }): number {
    let total = 0;
    for (const [counted, accounts] of this.#counts) {
      if (path !== undefined && counted !== path) continue;
      for (const [id, count] of accounts) if (account === undefined || id === account) total += count;
    }
    return total;
  }
}
