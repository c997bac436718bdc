import { zonedText } from '../../domain/moment.ts';

/** An instant in a time zone: `2026-11-20 14:03`, with `seconds` also those. The zone is named where it is shown. */
export function formatInstant(at: number, timezone: string, { seconds = false } = {}): string {
  return zonedText(at, timezone).slice(0, seconds ? 19 : 16);
}

/** The largest unit that fits, for narrow columns: `12s`, `3m`, `4h`, `5d`. */
export function formatShortDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}
