const fewAccounts = 100;
const quickStartMs = 2000;
/** With more accounts, the first polls are spread over at most this long … */
const maxSpreadMs = 30_000;
/** … and at most one in this time, so that they are no burst. */
const sweepStepMs = 4;
/**
 * Later polls that lie closer than this share an instant, at most `maxTogether`: with 1,000 accounts every 20 s two. Each by
 * itself costs 1.4 times the processor time, because the process wakes for each; five together leave half a millisecond later.
 */
const nearMs = 40;
const maxTogether = 5;

/** When an account is first polled, and the phase of its later polls. Milliseconds from the start. */
export interface FirstPoll {
  readonly firstMs: number;
  readonly phaseMs: number;
}

/**
 * Few accounts start within two seconds and keep that phase. Many are swept once, as fast as is not a burst,
 * so that problems show early; their later polls are spread over the whole interval, half an interval after
 * the first at the earliest.
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
