import { createHmac, createSecretKey } from 'node:crypto';
import { parseJsonObject } from '../domain/json.ts';
import type { KnownSession } from '../domain/operator.ts';
import { dayMs } from '../domain/time.ts';
import type { MonitorState } from './state.ts';

export const digestKeyNote = 'digest-key';
const linkKeysNote = 'link-keys';
const calendarKeyNote = 'calendar-key';
const endedPrefix = 'signed-out:';
const sessionPrefix = 'session:';

/** Whether a note says who may come in: it holds a key, or the end of a session. */
export function isAccessNote(name: string): boolean {
  return name === linkKeysNote || name === calendarKeyNote || name.startsWith(endedPrefix);
}

const maxLinkKeyAgeMs = 90 * dayMs;
/** The time for which a replaced key stays good for the links that it has signed. */
const linkKeyKeptMs = 31 * dayMs;

/** A digest under a random key of the database: the same across restarts, without storing a secret. */
export function keyedDigest(state: MonitorState, text: string): string {
  const key = state.notes.get(digestKeyNote)?.value ?? randomKey(state);
  if (!state.notes.has(digestKeyNote)) state.notes.write(digestKeyNote, key);
  // A Buffer as the key takes five times as long, and a start makes a digest of each account.
  const hmac = createHmac('sha256', createSecretKey(key, 'base64url'));
  return hmac.update(text).digest('base64url').slice(0, 22);
}

/** The random keys of the database that sign links in messages, the newest first; none before a daemon owned it. */
export function linkKeysOf(state: MonitorState): readonly Buffer[] {
  return readLinkKeys(state).map(({ key }) => Buffer.from(key, 'base64url'));
}

/** Makes the first key, or another if the newest is old; the one before stays for the links that it has signed. */
export function renewLinkKeys(state: MonitorState, now: number): void {
  const keys = readLinkKeys(state);
  const newest = keys[0];
  if (newest !== undefined && Math.abs(now - newest.since) < maxLinkKeyAgeMs) return;
  const kept = keys.filter((_, index) => now - (keys[index - 1]?.since ?? now) < linkKeyKeptMs);
  const renewed = [{ key: randomKey(state), since: now }, ...kept];
  state.notes.write(linkKeysNote, renewed.map(({ since, key }) => `${since}:${key}`).join(' '));
}

/** Stored as `<since>:<key> <since>:<key>`. */
function readLinkKeys({ notes }: MonitorState): readonly { readonly key: string; readonly since: number }[] {
  const pairs = notes.get(linkKeysNote)?.value.split(' ') ?? [];
  return pairs.flatMap((pair) => {
    const [since = '', key = ''] = pair.split(':');
    return key === '' ? [] : [{ key, since: Number(since) }];
  });
}

/** The key of the calendar's address; null before somebody asked for one. */
export function calendarKeyOf({ notes }: MonitorState): string | null {
  return notes.get(calendarKeyNote)?.value ?? null;
}

/** Addresses with the earlier key no longer show anything. */
export function keepCalendarKey(state: MonitorState, key: string): void {
  state.notes.write(calendarKeyNote, key);
}

function randomKey({ random }: MonitorState): string {
  return Buffer.from(random.bytes(32)).toString('base64url');
}

/** Stores that a session was signed out, until it would have expired: a copied cookie is worthless. */
export function endSession(
  state: MonitorState,
  { id, endsAt }: Pick<KnownSession, 'id' | 'endsAt'>,
  now: number,
): void {
  for (const { name, value } of state.notes.under(endedPrefix))
    if (Number(value) <= now) state.notes.delete(name);
  state.notes.write(endedPrefix + id, String(endsAt));
  state.notes.delete(sessionPrefix + id);
}

export function isSessionEnded({ notes }: MonitorState, id: string): boolean {
  return notes.has(endedPrefix + id);
}

/** Stores that somebody signed in, or that their session lasts longer; sessions that are over are removed. */
export function recordSession(state: MonitorState, session: KnownSession): void {
  for (const { id, endsAt } of sessionsOf(state))
    if (endsAt <= session.usedAt) state.notes.delete(sessionPrefix + id);
  state.notes.write(sessionPrefix + session.id, JSON.stringify(session));
}

/** The sessions that had neither ended nor expired when the last one was recorded; the newest first. */
export function sessionsOf({ notes }: MonitorState): readonly KnownSession[] {
  return notes
    .under(sessionPrefix)
    .map(({ value }): object | null => parseJsonObject(value))
    .filter(isKnownSession)
    .toSorted((left, right) => right.usedAt - left.usedAt);
}

/** Only `recordSession` writes these notes. */
function isKnownSession(stored: object | null): stored is KnownSession {
  return stored !== null && 'id' in stored && 'endsAt' in stored;
}
