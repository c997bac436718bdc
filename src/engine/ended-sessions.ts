import { type MonitorState, writeNote } from './state.ts';

const prefix = 'signed-out:';

/** Stores that a session was signed out, until it would have expired: a copied cookie is worthless. */
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
