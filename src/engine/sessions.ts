import { parseJsonObject } from '../domain/json.ts';
import type { KnownSession } from '../domain/session.ts';
import { type MonitorState, writeNote } from './state.ts';

const prefix = 'signed-out:';
const known = 'session:';

/** Stores that a session was signed out, until it would have expired: a copied cookie is worthless. */
export function endSession(
  state: MonitorState,
  { id, endsAt }: Pick<KnownSession, 'id' | 'endsAt'>,
  now: number,
): void {
  for (const { name, value } of [...state.notes.values()])
    if (name.startsWith(prefix) && Number(value) <= now) state.notes.delete(name);
  writeNote(state, prefix + id, String(endsAt));
  state.notes.delete(known + id);
}

export function isSessionEnded({ notes }: MonitorState, id: string): boolean {
  return notes.has(prefix + id);
}

/** Stores that somebody signed in, or that their session lasts longer; those that are over go. */
export function recordSession(state: MonitorState, session: KnownSession): void {
  for (const { id, endsAt } of sessionsOf(state))
    if (endsAt <= session.usedAt) state.notes.delete(known + id);
  writeNote(state, known + session.id, JSON.stringify(session));
}

/** Those that were signed in and neither ended nor expired when the last one was recorded; the newest first. */
export function sessionsOf({ notes }: MonitorState): readonly KnownSession[] {
  return [...notes.values()]
    .filter(({ name }) => name.startsWith(known))
    .flatMap(({ value }) => {
      const stored = parseJsonObject(value);
      return isKnownSession(stored) ? [stored] : [];
    })
    .toSorted((left, right) => right.usedAt - left.usedAt);
}

/** Only `recordSession` writes these notes. */
function isKnownSession(stored: object | null): stored is KnownSession {
  return stored !== null && 'id' in stored && 'endsAt' in stored;
}
