const formatters = new Map<string, Intl.DateTimeFormat>();

/** An instant in a time zone: `2026-11-20 14:03`, with `seconds` also those. The zone is named where it is shown. */
export function formatInstant(at: number, timezone: string, { seconds = false } = {}): string {
  const key = `${timezone} ${seconds}`;
  let formatter = formatters.get(key);
  if (formatter === undefined) {
    // Swedish writes dates as ISO 8601 does.
    formatter = new Intl.DateTimeFormat('sv-SE', {
      timeZone: timezone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      ...(seconds ? { second: '2-digit' } : {}),
    });
    formatters.set(key, formatter);
  }
  return formatter.format(new Date(at));
}

/** The largest unit that fits, for narrow columns: `12s`, `3m`, `4h`, `5d`. */
export function formatShortDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}
