import type { Batch } from '../../ports/store.ts';
import type { AccountRows, AccountTails, TailRow } from '../runs/account-tails.ts';
import { textArray } from './binary-array.ts';
import type { Ask } from './connection.ts';

/** So many tails are read at once: a few megabytes. */
const tailsAtOnce = 2000;

/**
 * Makes rows of the accounts of batches, and reads the tails that are needed for that. `create` makes rows for accounts that have none.
 * They hold nothing yet, and nobody finds them before the batch that fills them.
 */
export function openAccountRows(
  ask: Ask,
  tails: AccountTails,
  create: (ids: readonly string[]) => Promise<readonly TailRow[]>,
): (batch: Batch) => Promise<AccountRows> {
  let writes: 1 | 2 | null = null;
  return async (batch) => {
    const unknown = tails.unknownOf(batch);
    if (unknown.length > 0) writes ??= await versionToWrite(ask);
    for (let from = 0; from < unknown.length; from += tailsAtOnce) {
      const ids = unknown.slice(from, from + tailsAtOnce);
      const found = await ask<TailRow>(
        `SELECT no, id, tail, tail_polls AS polls, tail_latest_at AS "latestAt" FROM account WHERE id = ANY($1::text[])`,
        [textArray(ids)],
      );
      const known = new Set(found.map(({ id }) => id));
      const missing = ids.filter((id) => !known.has(id));
      tails.add([...found, ...(missing.length === 0 ? [] : await create(missing))], writes ?? 1);
    }
    return tails.rowsOf(batch);
  };
}

/** The version of the runs: a database that 0.2 made may be taken over by a daemon of it again, which knows the first one alone. */
async function versionToWrite(ask: Ask): Promise<1 | 2> {
  const [first] = await ask<{ program: string }>('SELECT program FROM migration WHERE number = 1', []);
  return first?.program.startsWith('lowwater 0.2.') === true ? 1 : 2;
}
