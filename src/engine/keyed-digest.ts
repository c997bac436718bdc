import { createHmac } from 'node:crypto';
import { type MonitorState, writeNote } from './state.ts';

const keyNote = 'digest-key';
const keyBytes = 32;

/**
 * Tells whether two secrets are the same across restarts, without storing either: a digest under a random key of the database, of
 * which neither a backup's reader nor a rainbow table makes the secret again.
 */
export function keyedDigest(state: MonitorState, text: string): string {
  const key = state.notes.get(keyNote)?.value ?? makeKey(state);
  return createHmac('sha256', Buffer.from(key, 'base64url')).update(text).digest('base64url').slice(0, 22);
}

function makeKey(state: MonitorState): string {
  const key = Buffer.from(state.random.bytes(keyBytes)).toString('base64url');
  writeNote(state, keyNote, key);
  return key;
}
