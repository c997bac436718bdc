import { type MonitorState, writeNote } from './state.ts';

const prefix = 'signed-out:';

/** Remembers that somebody signed out of a session of the page, until the session would have ended anyhow: a copy of its cookie is worth nothing. */
export function endSession(
  state: MonitorState,
  { id, endsAt }: { readonly id: string; readonly endsAt: number },
  now: number,
): void {
  for (const { name, value } of [...state.notes.values()])
    if (name.startsWith(prefix) && Number(value) <= now) state.notes.delete(name);
  writeNote(state, prefix + id, String(endsAt));
}

export function isSessionEnded({ notes }: MonitorState, id: string): boolean {
  return notes.has(prefix + id);
}
