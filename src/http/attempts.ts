import type { Clock } from '../ports/clock.ts';

const windowMs = 60_000;
const perAddress = 10;
const overall = 60;
/** Beyond so many addresses only the overall limit counts: a flood of addresses must not fill the memory. */
const trackedAddresses = 1_000;
/** How long an answer to a wrong token waits while too many come. */
const slowedMs = 1_000;

/**
 * Counts wrong tokens, per address and in all, over a minute. Beyond the limits the answers to wrong ones
 * come slowly. A right token never waits: who guesses from behind a proxy must not keep out those who share it.
 */
export class Attempts {
  readonly #clock: Clock;
  #windowStart = 0;
  #failures = new Map<string, number>();
  #total = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#windowStart = clock.monotonic();
  }

  /** Notes a wrong token. Null while few were; else, after a while, the seconds until the count begins anew. */
  async recordFailure(address: string): Promise<number | null> {
    this.#turnWindow();
    const before = this.#failures.get(address) ?? 0;
    const many = this.#total >= overall || before >= perAddress;
    this.#total += 1;
    if (before > 0 || this.#failures.size < trackedAddresses) this.#failures.set(address, before + 1);
    if (!many) return null;
    const left = this.#windowStart + windowMs - this.#clock.monotonic();
    await new Promise<void>((resolve) => this.#clock.setTimer(slowedMs, resolve));
    return Math.max(1, Math.ceil(left / 1000));
  }

  #turnWindow(): void {
    if (this.#clock.monotonic() - this.#windowStart < windowMs) return;
    this.#windowStart = this.#clock.monotonic();
    this.#failures = new Map();
    this.#total = 0;
  }
}
