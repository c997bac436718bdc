import { dayMs } from '../domain/duration.ts';
import { randomKey } from './keyed-digest.ts';
import { type MonitorState, writeNote } from './state.ts';

const note = 'link-keys';
const maxAgeMs = 90 * dayMs;
/** Links that a replaced key has signed are good for less. */
const keptMs = 31 * dayMs;

interface LinkKey {
  readonly key: string;
  /** Milliseconds since 1970. */
  readonly since: number;
}

/** The random keys of the database that sign links in messages, the newest first; none before a daemon owned it. */
export function linkKeysOf(state: MonitorState): readonly Buffer[] {
  return readKeys(state).map(({ key }) => Buffer.from(key, 'base64url'));
}

/** Makes the first key, or another where the newest is old; the one before stays for the links that it has signed. */
export function renewLinkKeys(state: MonitorState, now: number): void {
  const keys = readKeys(state);
  const newest = keys[0];
  if (newest !== undefined && Math.abs(now - newest.since) < maxAgeMs) return;
  const kept = keys.filter((_, index) => now - (keys[index - 1]?.since ?? now) < keptMs);
  const renewed = [{ key: randomKey(state), since: now }, ...kept];
  writeNote(state, note, renewed.map(({ since, key }) => `${since}:${key}`).join(' '));
}

/** As written: `<since>:<key> <since>:<key>`. */
function readKeys({ notes }: MonitorState): readonly LinkKey[] {
  const pairs = notes.get(note)?.value.split(' ') ?? [];
  return pairs.flatMap((pair) => {
    const [since = '', key = ''] = pair.split(':');
    return key === '' ? [] : [{ key, since: Number(since) }];
  });
}
