import type { Outlook } from '../domain/message.ts';
import type { Micros } from '../domain/money.ts';

/** Where a balance leads: the middle of what is foretold, and between which amounts it lies four times in five. */
export interface Ahead {
  readonly projection: readonly { readonly at: number; readonly value: Micros }[];
  readonly fan: readonly { readonly at: number; readonly low: Micros; readonly high: Micros }[];
}

const nothing: Ahead = { projection: [], fan: [] };

/**
 * From the newest reading straight down to empty, where it stays, or as far as `farthest`. Nothing where nothing is foretold; a fan that
 * is level above where no late end can be told.
 */
export function lookAhead(
  outlook: Outlook | null,
  from: {
    readonly last: { readonly at: number; readonly value: Micros };
    readonly now: number;
    readonly farthest: number;
  },
): Ahead {
  const { last, now, farthest } = from;
  const emptyAt = outlook?.emptyAt ?? null;
  if (outlook === null || emptyAt === null || emptyAt <= now) return nothing;
  const left = last.value - outlook.emptyMicros;
  const valueAt = (at: number, end: number): Micros =>
    last.value - left * (at >= end ? 1 : (at - last.at) / (end - last.at));
  const end = Math.min(emptyAt, farthest);
  const projection = [last, { at: end, value: valueAt(end, emptyAt) }];
  const { earliest = null, latest = null } = outlook.forecast ?? {};
  if (earliest === null) return { projection, fan: [] };
  const early = Math.max(earliest, now);
  const late = latest ?? Number.POSITIVE_INFINITY;
  const corners = [last.at, Math.min(early, farthest), Math.min(late, farthest)];
  const fan = [...new Set(corners)].map((at) => ({ at, low: valueAt(at, early), high: valueAt(at, late) }));
  return { projection, fan };
}
