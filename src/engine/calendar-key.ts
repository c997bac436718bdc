import { type MonitorState, writeNote } from './state.ts';

const note = 'calendar-key';
const keyBytes = 24;

/** The key of the calendar's address; null before somebody asked for one. */
export function calendarKeyOf({ notes }: MonitorState): string | null {
  return notes.get(note)?.value ?? null;
}

/** Makes a new key: addresses with the one before show nothing any more. */
export function renewCalendarKey(state: MonitorState): string {
  const key = Buffer.from(state.random.bytes(keyBytes)).toString('base64url');
  writeNote(state, note, key);
  return key;
}
