/** Readings carry the dates of the machine's clock: one that is further off the clock that counts owns nothing. */
export const maxSkewMs = 2000;

/**
 * By how much the clock that counts is ahead of the database's, from how far each daemon's clock is ahead of it. It is the database's own,
 * 0, unless the daemons that agree with one another are more than all others and the database together: then it is theirs, and the
 * database is the odd one.
 */
export function sharedSkewMs(skews: readonly number[]): number {
  const agreeing = (skew: number): number =>
    skews.filter((other) => Math.abs(other - skew) <= maxSkewMs).length;
  const best = skews.reduce(
    (found, skew) => (agreeing(skew) > agreeing(found) ? skew : found),
    skews[0] ?? 0,
  );
  const isMajority = agreeing(best) > skews.length - agreeing(best) + 1;
  return isMajority && Math.abs(best) > maxSkewMs ? best : 0;
}
