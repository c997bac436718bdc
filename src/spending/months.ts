import { dayMs } from '../domain/time.ts';

/** The month in which a day lies. Months are counted from January 1970, days from its first. */
export function monthOf(day: number): number {
  const date = new Date(day * dayMs);
  return (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth();
}

export function firstOf(month: number): number {
  return Date.UTC(1970, month, 1) / dayMs;
}
