import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';

const windowMs = 60_000;
const maxPerAddress = 10;
const maxOverall = 60;
/** Above this number of addresses only the overall limit counts: a flood of addresses must not fill the memory. */
const maxTrackedAddresses = 1_000;
const heldMs = 1_000;
/** The most answers that are held back at a time: each takes a connection from people with the right token. */
const maxHeld = 32;

/**
 * Counts wrong tokens, per address and overall, over a minute. Above the limits, answers to wrong tokens are held back, a few at a time. The rest
 * is refused at once and its connection closed. A right token never waits: somebody who guesses behind a proxy must not keep others there out.
 */
export class Attempts {
  readonly #clock: Clock;
  readonly #log: Pick<Log, 'warn'>;
  /** Wrong tokens since the start. */
  refused = 0;
  #windowStart: number;
  #failures = new Map<string, number>();
  #total = 0;
  #held = 0;
  #unlogged = 0;
  #lastAddress = '';
  #cancelLog: (() => void) | null = null;

  constructor(clock: Clock, log: Pick<Log, 'warn'>) {
    this.#clock = clock;
    this.#log = log;
    this.#windowStart = clock.monotonic();
  }

  /** Records a wrong token. Null while there were few; else the headers of the answer, and the seconds until counting begins again. */
  async recordFailure(address: string) {
    this.#turnWindow();
    this.refused += 1;
    this.#logSoon(address);
    const before = this.#failures.get(address) ?? 0;
    const many = this.#total >= maxOverall || before >= maxPerAddress;
    this.#total += 1;
    if (before > 0 || this.#failures.size < maxTrackedAddresses) this.#failures.set(address, before + 1);
    if (!many) return null;
    const left = this.#windowStart + windowMs - this.#clock.monotonic();
    const seconds = Math.max(1, Math.ceil(left / 1000));
    const headers: Readonly<Record<string, string>> = { 'retry-after': String(seconds) };
    if (this.#held >= maxHeld) return { seconds, headers: { ...headers, connection: 'close' } };
    this.#held += 1;
    await new Promise<void>((resolve) => this.#clock.setTimer(heldMs, resolve));
    this.#held -= 1;
    return { seconds, headers };
  }

  close(): void {
    if (this.#cancelLog === null) return;
    this.#cancelLog();
    this.#logRefused();
  }

  #logSoon(address: string): void {
    this.#unlogged += 1;
    this.#lastAddress = address;
    this.#cancelLog ??= this.#clock.setTimer(windowMs, () => this.#logRefused());
  }

  #logRefused(): void {
    this.#log.warn({ count: this.#unlogged, address: this.#lastAddress }, 'wrong tokens were refused');
    this.#unlogged = 0;
    this.#cancelLog = null;
  }

  #turnWindow(): void {
    if (this.#clock.monotonic() - this.#windowStart < windowMs) return;
    this.#windowStart = this.#clock.monotonic();
    this.#failures = new Map();
    this.#total = 0;
  }
}
