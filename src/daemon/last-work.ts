import type { Clock } from '../domain/ports.ts';

/** Lets what is under way come to its end before the daemon goes. */
export class LastWork {
  readonly #parts: { readonly clock: Clock; readonly isIdle: () => boolean };
  #idle: (() => void) | null = null;

  constructor(parts: { readonly clock: Clock; readonly isIdle: () => boolean }) {
    this.#parts = parts;
  }

  /** Resolves when nothing is under way, or after `withinMs`. */
  async end(withinMs: number): Promise<void> {
    const { clock, isIdle } = this.#parts;
    if (isIdle()) return;
    await new Promise<void>((resolve) => {
      const cancel = clock.setTimer(withinMs, resolve);
      this.#idle = () => {
        cancel();
        resolve();
      };
    });
    this.#idle = null;
  }

  /** Something that was under way has ended. */
  somethingEnded(): void {
    if (this.#idle !== null && this.#parts.isIdle()) this.#idle();
  }
}
