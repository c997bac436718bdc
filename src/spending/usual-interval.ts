/** More than this many usual intervals between two readings is a gap: a fall and a top-up may both hide in it. */
const intervalsPerGap = 2.5;
/** So many readings have the three intervals between them by which a gap is told. */
export const readingsPerPace = 4;

/**
 * Tells gaps from the pace at which an account was read at the time. The interval that is configured now says nothing of
 * readings from before it was changed: what is usual is the middle one of the last three, or the configured one where that
 * is longer. One gap among them, or two readings close together, do not move the middle.
 */
export class GapFinder {
  readonly #configuredMs: number;
  /** The last three intervals. */
  #oldest: number;
  #middle: number;
  #newest: number;

  constructor(configuredMs: number) {
    this.#configuredMs = configuredMs;
    this.#oldest = configuredMs;
    this.#middle = configuredMs;
    this.#newest = configuredMs;
  }

  /** Whether so much time between two readings is a gap. To be asked once for each two neighbours, the oldest first. */
  isGap(ms: number): boolean {
    const usualMs = Math.max(
      Math.min(this.#oldest, this.#middle),
      Math.min(Math.max(this.#oldest, this.#middle), this.#newest),
      this.#configuredMs,
    );
    this.#oldest = this.#middle;
    this.#middle = this.#newest;
    this.#newest = ms;
    return ms > intervalsPerGap * usualMs;
  }
}
