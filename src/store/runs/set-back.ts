import { parseJson } from '../../domain/json.ts';
import type { PollRecord } from '../../domain/reading.ts';
import type { ClockSetBack, HistoryQuery } from '../../ports/store.ts';

/** The times the clock was set back (`setBackNote`) that a span touches; none if the note is missing or cannot be read. */
export function setBacksIn(note: string | null, { since, until }: HistoryQuery): readonly ClockSetBack[] {
  const all = parseJson(note ?? '[]');
  if (!Array.isArray(all)) return [];
  return all.filter(isSetBack).filter(([to, from]) => to < until && from >= since);
}

function isSetBack(value: unknown): value is ClockSetBack {
  return Array.isArray(value) && value.length === 2 && value.every(Number.isSafeInteger);
}

/** The span with the whole of each time that the clock was set back: polls outside a span decide which polls in it are left out. */
export function withWhole(query: HistoryQuery, setBacks: readonly ClockSetBack[]): HistoryQuery {
  return {
    ...query,
    since: Math.min(query.since, ...setBacks.map(([to]) => to)),
    until: Math.max(query.until, ...setBacks.map(([, from]) => from + 1)),
  };
}

/**
 * Polls in the order of storage, without those that were dated before the clock was set back and no earlier than one stored after them.
 * In turns by time, both would look like spending and top-ups.
 */
export function withoutOvertaken(
  polls: readonly PollRecord[],
  setBacks: readonly ClockSetBack[],
): readonly PollRecord[] {
  if (setBacks.length === 0) return polls;
  const spans = setBacks.map(([to, from]) => ({ to, from, earliestAt: Number.POSITIVE_INFINITY }));
  const isLast = ({ at }: PollRecord): boolean => {
    const holding = spans.filter(({ to, from }) => to <= at && at <= from);
    const isOvertaken = holding.some(({ earliestAt }) => earliestAt <= at);
    for (const span of holding) span.earliestAt = Math.min(span.earliestAt, at);
    return !isOvertaken;
  };
  return polls.toReversed().filter(isLast).reverse();
}
