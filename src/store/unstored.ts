import { parseJson } from '../domain/json.ts';
import type { FoundUnstored, Unstored } from '../ports/store.ts';
import { type Asking, ask } from './asking.ts';
import { incidentFromBody, incidentToBody, type StoredIncident } from './bodies.ts';
import { faultOfRecord, isUnstored } from './shapes.ts';
import { unstoredNote } from './tables.ts';

interface StoredUnstored extends Omit<Unstored, 'incidents'> {
  readonly incidents: readonly StoredIncident[];
}

/** A text that is not a whole record of this program is skipped, and stays stored. */
export function* findUnstored(): Asking<ReadonlyMap<string, FoundUnstored>> {
  const rows = yield* ask<{ name: string; value: string }>(
    `SELECT name, value FROM note WHERE name >= $1 AND name < $1 || '~' ORDER BY name`,
    [unstoredNote],
  );
  const found = rows.flatMap(({ name, value }): [string, FoundUnstored][] => {
    const unstored = readUnstored(value);
    return unstored === null ? [] : [[name, { ...unstored, write: writeUnstored }]];
  });
  return new Map(found);
}

export function writeUnstored({ at, polls, incidents, orders }: Unstored): string {
  const value: StoredUnstored = { at, polls, incidents: incidents.map(incidentToBody), orders };
  return JSON.stringify(value);
}

function readUnstored(value: string): Unstored | null {
  const parsed = parseJson(value);
  if (!isUnstored(parsed)) return null;
  // The shape was checked just before.
  const stored = parsed as StoredUnstored;
  const whole = stored.incidents.filter((incident) => faultOfRecord('incident', incident) === null);
  return { ...stored, incidents: whole.map(incidentFromBody) };
}
