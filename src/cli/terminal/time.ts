const local = new Map<string, Intl.DateTimeFormat>();

/** An instant in the terminal's own time zone: `2026-11-20 14:03`, with `seconds` also those. */
export function formatLocal(
  at: number,
  options: { readonly seconds?: boolean; readonly zone?: boolean } = {},
): string {
  // Swedish writes dates as ISO 8601 does.
  return formatterFor(options).format(new Date(at));
}

/** The largest unit that fits, for narrow columns: `12s`, `3m`, `4h`, `5d`. */
export function formatShortDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

function formatterFor(options: { readonly seconds?: boolean; readonly zone?: boolean }): Intl.DateTimeFormat {
  const key = JSON.stringify(options);
  const known = local.get(key);
  if (known !== undefined) return known;
  const fresh = new Intl.DateTimeFormat('sv-SE', {
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    ...(options.seconds === true ? { second: '2-digit' } : {}),
    ...(options.zone === true ? { timeZoneName: 'short' } : {}),
  });
  local.set(key, fresh);
  return fresh;
}
