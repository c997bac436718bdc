/** A habit is forgotten by half in three weeks … */
const keptAnHour = 2 ** (-1 / (60 * 24));
/** … and grows by half at a time at the most, so that one event is none. */
export const habitGrowth = 1.5;

/** How high something goes by itself, an hour later. */
export function fadeHabit(habit: number): number {
  return habit * keptAnHour;
}

/** The same after it went as high as `top` once more. It is taken to be `least` at the least. */
export function raiseHabit(habit: number, top: number, least = 0): number {
  return Math.max(habit, Math.min(top, habitGrowth * Math.max(habit, least)));
}
