import { parseJson } from '../../domain/json.ts';
import type { FoundUnstored, Unstored } from '../../ports/store.ts';
import { incidentFromBody, incidentToBody, type StoredIncident } from '../bodies.ts';
import { faultOfRecord, isUnstored } from '../shapes.ts';
import { onlySlot } from './commit.ts';
import type { Ask, Database } from './connection.ts';

/** Notes of this name: no other program takes them for its own, and those before 0.4 do not look at them. */
const prefix = '@unstored/0.4/';

interface StoredUnstored extends Omit<Unstored, 'incidents'> {
  readonly incidents: readonly StoredIncident[];
}

export async function insertUnstored({ change }: Database, id: string, unstored: Unstored): Promise<void> {
  await change('INSERT INTO note (name, slot, value) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING', [
    prefix + id,
    onlySlot,
    writeUnstored(unstored),
  ]);
}

/** A text that is no whole record of this program stays where it is. */
export async function findUnstored(ask: Ask): Promise<ReadonlyMap<string, FoundUnstored>> {
  const rows = await ask<{ name: string; value: string }>(
    `SELECT name, value FROM note WHERE name >= $1 AND name < $1 || '~' ORDER BY name`,
    [prefix],
  );
  const found = rows.map(({ name, value }) => [name, readUnstored(value)] as const);
  return new Map(
    found.flatMap(([name, unstored]) =>
      unstored === null ? [] : [[name, { ...unstored, write: writeUnstored }]],
    ),
  );
}

function writeUnstored({ at, polls, incidents, orders }: Unstored): string {
  const value: StoredUnstored = { at, polls, incidents: incidents.map(incidentToBody), orders };
  return JSON.stringify(value);
}

function readUnstored(value: string): Unstored | null {
  const parsed = parseJson(value);
  if (!isUnstored(parsed)) return null;
  // Its shape was just checked.
  const stored = parsed as StoredUnstored;
  const whole = stored.incidents.filter((incident) => faultOfRecord('incident', incident) === null);
  return { ...stored, incidents: whole.map(incidentFromBody) };
}
