import type { RatesSource } from '../domain/settings.ts';
import { hourMs } from '../domain/time.ts';
import { followRates, takeRates } from '../engine/rates.ts';
import type { DaemonParts } from './daemon-dependencies.ts';

/** A failure is tried again after this at most. */
const againMs = hourMs;
const notOwnerMs = 1000;

/** Reads rates from their source, at a start, after a reload, and as often as the settings say. Instants are of the steady clock. */
export class RatesReading {
  readonly #parts: DaemonParts;
  #nextAt: number;
  #busy: AbortController | null = null;

  constructor(parts: DaemonParts, now: number) {
    this.#parts = parts;
    this.#nextAt = now;
  }

  get nextAt(): number {
    const isIdle = this.#source === null || this.#busy !== null || !this.#owns;
    return isIdle ? Number.POSITIVE_INFINITY : this.#nextAt;
  }

  /** The settings may have changed. */
  adopt(now: number): void {
    this.#nextAt = now;
    this.#busy?.abort();
    this.#busy = null;
    followRates(this.#parts.state, now);
  }

  /** Asks where it is due: only the daemon that owns the accounts does. */
  start(now: number): void {
    const source = this.#source;
    if (source === null || this.#busy !== null || now < this.#nextAt || !this.#owns) return;
    this.#nextAt = now + Math.min(againMs, source.everyMs);
    void this.#read(source);
  }

  shift(byMs: number): void {
    this.#nextAt += byMs;
  }

  abandon(): void {
    this.#busy?.abort();
  }

  async #read(source: RatesSource): Promise<void> {
    const { openProvider, state, act, log, timer } = this.#parts;
    const busy = new AbortController();
    this.#busy = busy;
    const provider = openProvider({ ...state.settings, provider: source.entry, providers: {} });
    const guard = () => (this.#owns ? 0 : notOwnerMs);
    const outcome = await provider.readBalance(source.account, busy.signal, guard);
    await provider.close();
    if (busy.signal.aborted) return;
    this.#busy = null;
    if (outcome.kind !== 'ok') log.warn({ reason: outcome.reason }, 'rates cannot be read');
    const isTaken = act((now) => takeRates(state, source, outcome, now));
    if (isTaken) this.#nextAt = this.#parts.now() + source.everyMs;
    timer.wakeBy(this.#nextAt);
  }

  get #source(): RatesSource | null {
    return this.#parts.state.settings.money?.source ?? null;
  }

  get #owns(): boolean {
    return this.#parts.membership?.mayPoll() ?? true;
  }
}
