import type { Calendar } from '../../src/ports/clock.ts';
import { cronCalendar } from '../../src/system/calendar.ts';

interface Span {
  from: number;
  to: number;
  answer: number | null;
}

/** The real calendar, asked once for what it has answered already: the next run stays the same until it comes. */
export function createMemoCalendar(): Calendar {
  const nexts = new Map<string, Span>();
  const previouses = new Map<string, Span>();
  return {
    next(cron, timezone, after) {
      const key = `${timezone} ${cron}`;
      const known = nexts.get(key);
      if (known !== undefined && known.from <= after && after < known.to) return known.answer;
      const answer = cronCalendar.next(cron, timezone, after);
      nexts.set(key, { from: after, to: answer ?? Number.POSITIVE_INFINITY, answer });
      return answer;
    },
    previous(cron, timezone, before) {
      const key = `${timezone} ${cron}`;
      const known = previouses.get(key);
      if (known !== undefined && known.from <= before && before < known.to) return known.answer;
      const answer = cronCalendar.previous(cron, timezone, before);
      const next = cronCalendar.next(cron, timezone, before);
      previouses.set(key, { from: answer ?? before, to: next ?? Number.POSITIVE_INFINITY, answer });
      return answer;
    },
  };
}
