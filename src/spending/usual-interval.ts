/** More than this many usual intervals between two readings is a gap: a fall and a top-up may both hide in it. */
const intervalsPerGap = 2.5;
/** This many readings have three intervals between them, by which a gap is told. */
export const readingsPerPace = 4;

/**
 * Tells gaps by the pace at which an account was read at the time. The interval that is configured now says nothing of
 * readings from before it was changed: the usual one is the middle one of the last three, or the configured one if that
 * is longer. One gap among them, or two readings close together, do not move the middle. To be asked once for each pair of
 * neighbours, the oldest first.
 */
export function createGapFinder(configuredMs: number): (ms: number) => boolean {
  // The last three intervals.
  let [oldest, middle, newest] = [configuredMs, configuredMs, configuredMs];
  return (ms) => {
    const usualMs = Math.max(
      Math.min(oldest, middle),
      Math.min(Math.max(oldest, middle), newest),
      configuredMs,
    );
    oldest = middle;
    middle = newest;
    newest = ms;
    return ms > intervalsPerGap * usualMs;
  };
}
