/** What was learned fades by half in 60 days … */
const keptAnHour = 2 ** (-1 / (60 * 24));
/** … and grows by half at a time at most, so that one event does not become usual. */
export const learnedGrowth = 1.5;

/** How high something usually goes, an hour later. */
export function fadeLearned(height: number): number {
  return height * keptAnHour;
}

/** The same after it went as high as `top` once more; it counts as at least `least`. */
export function raiseLearned(height: number, top: number, least = 0): number {
  return Math.max(height, Math.min(top, learnedGrowth * Math.max(height, least)));
}
