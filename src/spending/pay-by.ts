import type { LocalWeek } from './local-week.ts';

/** Nobody waits longer for a payment. */
const maxHours = 90 * 24;

/**
 * By when to pay so that the money is there at `neededAt`. Where holidays or a weekend are given, only working days carry a payment: the
 * lead time is counted in their hours. Else it is time as it passes.
 */
export function payBy(week: LocalWeek, neededAt: number, leadTimeMs: number): number {
  if (!week.hasFreeDays) return neededAt - leadTimeMs;
  let at = neededAt;
  let restMs = leadTimeMs;
  for (let hours = 0; restMs > 0 && hours < maxHours; hours++) {
    const { startsAt, slot } = week.hourAt(at - 1);
    const partMs = at - startsAt;
    if (!week.isWorking(slot)) {
      at = startsAt;
    } else {
      at -= Math.min(partMs, restMs);
      restMs -= Math.min(partMs, restMs);
    }
  }
  return at;
}

/** When a payment of `from` has arrived: the reverse of `payBy`. */
export function arrivalOf(week: LocalWeek, from: number, leadTimeMs: number): number {
  if (!week.hasFreeDays) return from + leadTimeMs;
  let at = from;
  let restMs = leadTimeMs;
  for (let hours = 0; restMs > 0 && hours < maxHours; hours++) {
    const { endsAt, slot } = week.hourAt(at);
    const partMs = week.isWorking(slot) ? Math.min(endsAt - at, restMs) : 0;
    restMs -= partMs;
    at = restMs > 0 ? endsAt : at + partMs;
  }
  return at;
}
