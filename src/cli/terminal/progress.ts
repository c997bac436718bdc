import type { Clock } from '../../ports/clock.ts';
import type { Output } from './output.ts';
import { formatShortDuration } from './text.ts';

export type Progress = ReturnType<typeof startProgress>;

const redrawEveryMs = 100;

/** Work shorter than this is over before anybody could read how long it takes. */
const quietMs = 500;

/** One line on standard error: how far, and how long still; nothing where that is no terminal. */
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
    /** The part of the whole that is done, from 0 to 1. Cheap to call often. */
    update(fraction: number): void {
      const now = clock.monotonic();
      if (!output.isTerminal || now - drawnAt < redrawEveryMs) return;
      drawnAt = now;
      drawn = true;
      void output.write(`\r\u001b[K${describe(label, fraction, now - startedAt)}`);
    },
    /** Takes the line away. */
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
