/** Up to this many accounts are polled within `quickStartMs` of the start. */
const fewAccounts = 100;
const quickStartMs = 2000;
/** More are spread over at most this long … */
const maxSpreadMs = 30_000;
/**
 * … and no faster than one in this time, so that the first look at many accounts does not come as a burst.
 */
const sweepStepMs = 4;
/**
 * Later polls that lie closer than this would wake the process again and again, which costs more than the polls do: up to
 * `maxTogether` of them share an instant.
 */
const nearMs = 100;
const maxTogether = 5;

/** When an account is polled first, and the phase that its later polls keep. Milliseconds from the start. */
export interface FirstPoll {
  readonly firstMs: number;
  readonly phaseMs: number;
}

/**
 * The first polls of accounts with the given intervals. Few accounts start within two seconds and keep that
 * phase. Many are swept once, as fast as is no burst, so that trouble shows early; their later polls are
 * spread over the whole interval and keep that phase, half an interval after the first one at the soonest.
 */
export function firstPolls(intervalsMs: readonly number[]): readonly FirstPoll[] {
  const count = intervalsMs.length;
  return intervalsMs.map((intervalMs, index) => {
    const place = index / count;
    if (count <= fewAccounts) {
      const firstMs = place * Math.min(quickStartMs, intervalMs);
      return { firstMs, phaseMs: firstMs };
    }
    const firstMs = place * Math.min(maxSpreadMs, intervalMs, count * sweepStepMs);
    const together = polledTogether(count, intervalMs);
    const laterMs = ((index - (index % together)) / count) * intervalMs;
    return { firstMs, phaseMs: nextOnGrid(laterMs, intervalMs, firstMs + intervalMs / 2) };
  });
}

/** How many of so many accounts share an instant of the interval. */
export function polledTogether(count: number, intervalMs: number): number {
  return Math.min(maxTogether, Math.max(1, Math.floor((nearMs * count) / intervalMs)));
}

/**
 * The first instant strictly after `now` on the grid `phase + k · interval`, never before the phase itself.
 */
export function nextOnGrid(phase: number, intervalMs: number, now: number): number {
  if (now < phase) return phase;
  return phase + (Math.floor((now - phase) / intervalMs) + 1) * intervalMs;
}
