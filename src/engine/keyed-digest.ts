import { createHmac } from 'node:crypto';
import { type MonitorState, writeNote } from './state.ts';

const keyNote = 'digest-key';
const keyBytes = 32;

/**
 * Tells whether two secrets are the same across restarts, without storing either: a digest under a random key of the database, of
 * which neither a backup's reader nor a rainbow table makes the secret again.
 */
export function keyedDigest(state: MonitorState, text: string): string {
  const key = state.notes.get(keyNote)?.value ?? randomKey(state);
  if (!state.notes.has(keyNote)) writeNote(state, keyNote, key);
  return createHmac('sha256', Buffer.from(key, 'base64url')).update(text).digest('base64url').slice(0, 22);
}

/** As base64url. */
export function randomKey({ random }: MonitorState): string {
  return Buffer.from(random.bytes(keyBytes)).toString('base64url');
}
