/** Readings carry the dates of the machine's clock: one that is further off the clock that counts owns nothing. */
export const maxSkewMs = 2000;

/**
 * By how much the clock that counts is ahead of the database's, from how far each daemon's clock is ahead of it. It is the database's own,
 * 0, unless the daemons that agree with one another are more than all others and the database together: then it is theirs, and the
 * database is the odd one.
 */
export function sharedSkewMs(skews: readonly number[]): number {
  const groups = skews.map((skew) => skews.filter((other) => Math.abs(other - skew) <= maxSkewMs));
  const largest = groups.reduce((best, group) => (group.length > best.length ? group : best), []);
  const median = largest.toSorted((left, right) => left - right)[Math.floor(largest.length / 2)] ?? 0;
  const isMajority = largest.length > skews.length - largest.length + 1;
  return isMajority && Math.abs(median) > maxSkewMs ? median : 0;
}
