import { parseJson } from '../domain/json.ts';
import { type ClockSetBack, setBackNote } from '../ports/store.ts';
import type { MonitorState } from './state.ts';

/** A smaller step is a correction, as to the steady clock. */
const leastSetBackMs = 2000;
const setBacksKept = 20;

/** Notes that the clock was set back: whoever reads the history leaves out what was dated too late. */
export function noteSetBack({ notes }: MonitorState, byMs: number, now: number): void {
  if (byMs > -leastSetBackMs) return;
  const earlier = parseJson(notes.get(setBackNote)?.value ?? '[]') as readonly ClockSetBack[];
  const from = now - byMs;
  const [to, last] = earlier.at(-1) ?? [now, Number.NEGATIVE_INFINITY];
  // Two in a row, with no poll in between, are one: the polls before both are dated later than those after both.
  const all =
    from <= last && from >= to ? earlier.with(-1, [Math.min(to, now), last]) : [...earlier, [now, from]];
  notes.write(setBackNote, JSON.stringify(all.slice(-setBacksKept)));
}
