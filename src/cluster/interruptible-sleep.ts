import type { Clock } from '../ports/clock.ts';

/** The pauses of a loop that lives until it is told to end. */
export class Pauses {
  readonly #clock: Clock;
  #wake: () => void = () => undefined;
  #ended = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Resolves after so long, or at once when the loop is to end; gives whether to go on. */
  readonly pause = async (ms: number): Promise<boolean> => {
    if (this.#ended) return false;
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.setTimer(ms, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
    return !this.#ended;
  };

  end(): void {
    this.#ended = true;
    this.#wake();
  }
}
