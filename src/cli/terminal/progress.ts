import type { Clock } from '../../ports/clock.ts';
import type { Output } from './output.ts';
import { formatShortDuration } from './text.ts';

export type Progress = ReturnType<typeof startProgress>;

const redrawEveryMs = 100;

/** Shorter work shows no progress: it is over before anybody could read the line. */
const quietMs = 500;

/** Shows progress and remaining time in one line on standard error; nothing if that is not a terminal. */
export function startProgress(order: {
  readonly output: Output;
  readonly clock: Clock;
  readonly label: string;
}) {
  const { output, clock, label } = order;
  const startedAt = clock.monotonic();
  let drawnAt = startedAt + quietMs - redrawEveryMs;
  let drawn = false;
  return {
    /** `fraction`: the part that is done, from 0 to 1. Cheap to call often. */
    update(fraction: number): void {
      const now = clock.monotonic();
      if (!output.isTerminal || now - drawnAt < redrawEveryMs) return;
      drawnAt = now;
      drawn = true;
      void output.write(`\r\u001b[K${describe(label, fraction, now - startedAt)}`);
    },
    /** Removes the line. */
    end(): void {
      if (drawn) void output.write('\r\u001b[K');
    },
  };
}

function describe(label: string, fraction: number, elapsedMs: number): string {
  const percent = `${Math.floor(fraction * 100)} %`;
  if (fraction <= 0) return `${label}: ${percent}`;
  const leftMs = (elapsedMs / fraction) * (1 - fraction);
  return `${label}: ${percent}, ${formatShortDuration(leftMs + 999)} left`;
}
