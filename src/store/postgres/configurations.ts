import type { Secret } from '../../domain/secret.ts';
import { textArray } from './binary-array.ts';
import type { Database } from './connection.ts';
import { withSchema } from './reader.ts';

/** What nobody has used for so long is forgotten. */
const keptDays = 30;

export async function publishConfiguration({ change }: Database, hash: string, parts: string): Promise<void> {
  await change(
    `WITH swept AS (
       DELETE FROM configuration WHERE hash <> $1 AND seen_at < clock_timestamp() - ${keptDays} * interval '1 day'
     ) INSERT INTO configuration (hash, parts, seen_at) VALUES ($1, $2, clock_timestamp())
     ON CONFLICT (hash) DO UPDATE SET seen_at = excluded.seen_at`,
    [hash, parts],
  );
}

/** What configurations consist of, by hash, as far as their daemons have said so. */
export async function findConfigurations(
  { ask }: Database,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await ask<{ hash: string; parts: string }>(
    'SELECT hash, parts FROM configuration WHERE hash = ANY($1::text[])',
    [textArray(hashes)],
  );
  return new Map(rows.map(({ hash, parts }) => [hash, parts]));
}

/** As `findConfigurations`. Rejects as `openPostgresReader` does. */
export function readConfigurations(options: {
  readonly url: Secret;
  readonly program: string;
  readonly hashes: readonly string[];
}): Promise<ReadonlyMap<string, string>> {
  const { url, program, hashes } = options;
  return withSchema(url, program, (database) => findConfigurations(database, hashes));
}
