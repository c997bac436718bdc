import type { Incident } from '../../domain/alert.ts';
import type { DamagedRecord } from '../../ports/store.ts';
import { incidentFromBody, type StoredIncident } from '../bodies.ts';

/** A record as its row gives it; `second` where a key has two parts. */
export interface BodyRow {
  readonly key: string;
  readonly second?: string;
  readonly body: string;
}

/** What every record of a table has; only this program writes bodies, by JSON.stringify, so that what has these is whole. */
const requiredKeys: Readonly<Record<string, readonly string[]>> = {
  account: ['account'],
  backoff: ['group', 'until'],
  alert: ['account', 'rule', 'state'],
  incident: ['id', 'account', 'rule', 'firedAt'],
  message: ['id', 'channel', 'items'],
  silence: ['id', 'endsAt'],
};

/** Parses bodies and keeps apart what cannot be read. */
export class RecordSieve {
  readonly damaged: DamagedRecord[] = [];

  parse<T extends object>(source: string, rows: readonly BodyRow[]): readonly T[] {
    const required = requiredKeys[source] ?? [];
    return rows.flatMap(({ key, second = null, body }) => {
      const parsed = parseRecord<T>(body);
      if (parsed !== null && required.every((name) => Object.hasOwn(parsed, name))) return [parsed];
      const reason = parsed === null ? 'it is not JSON' : 'it is not whole';
      this.damaged.push({ source, key, second, body, reason });
      return [];
    });
  }
}

export function readIncidents(rows: readonly BodyRow[], sieve = new RecordSieve()): readonly Incident[] {
  return sieve.parse<StoredIncident>('incident', rows).map(incidentFromBody);
}

/** Null for what is no JSON object; whoever wrote an object wrote a T. */
function parseRecord<T extends object>(body: string): T | null {
  try {
    const parsed: unknown = JSON.parse(body);
    return typeof parsed === 'object' && parsed !== null ? (parsed as T) : null;
  } catch {
    return null;
  }
}
