import type { Clock } from '../domain/ports.ts';

const windowMs = 60_000;
const perAddress = 10;
const overall = 60;
/** Beyond so many addresses only the overall limit counts: a flood of addresses must not fill the memory. */
const trackedAddresses = 1_000;

/**
 * Counts failed sign-ins, per address and in all, over a minute. While one of the limits is reached no token
 * is even looked at, so guessing is bounded to `overall` tokens a minute whatever the number of addresses.
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

  /** Seconds to wait before the address may try again; null when it may now. */
  waitSeconds(address: string): number | null {
    this.#turnWindow();
    if (this.#total < overall && (this.#failures.get(address) ?? 0) < perAddress) return null;
    return Math.max(1, Math.ceil((this.#windowStart + windowMs - this.#clock.monotonic()) / 1000));
  }

  recordFailure(address: string): void {
    this.#turnWindow();
    this.#total += 1;
    if (this.#failures.has(address) || this.#failures.size < trackedAddresses) {
      this.#failures.set(address, (this.#failures.get(address) ?? 0) + 1);
    }
  }

  #turnWindow(): void {
    if (this.#clock.monotonic() - this.#windowStart < windowMs) return;
    this.#windowStart = this.#clock.monotonic();
    this.#failures = new Map();
    this.#total = 0;
  }
}
