import { statSync } from 'node:fs';
import type { Reading } from '../../src/domain/reading.ts';
import type { Log } from '../../src/ports/log.ts';
import type { Batch } from '../../src/ports/store.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-store.ts';
import { openSqliteReader } from '../../src/store/sqlite/reader.ts';
import { systemClock } from '../../src/system/clock.ts';
import { batch } from '../../test/store/sqlite/batches.ts';
import { accountId, burnPer20sMicros } from './accounts.ts';

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, fatal() {} };
const everything = { since: 0, until: Number.MAX_SAFE_INTEGER } as const;

/** Polls that are added for each account: a run of 20 seconds is too short to show what storing costs for long. */
const addedPolls = 500;
const intervalMs = 20_000;
/** More than the daemon would put into one at this pace, which spares the disk its syncs and changes no size. */
const pollsPerCommit = 200;

export interface GrownHistory {
  readonly addedPolls: number;
  readonly bytesPerPoll: number;
}

/** Polls that can be read back from a database, of all accounts together. */
export function countStored(path: string, accounts: number): number {
  const reader = openSqliteReader({ path });
  let count = 0;
  for (let number = 0; number < accounts; number++) {
    for (const { reading } of [...reader.polls({ account: accountId(number), ...everything })].flat()) {
      if (reading === null) throw new Error('a poll of the simulator failed');
      count++;
    }
  }
  reader.close();
  return count;
}

/**
 * Goes on with the history of a run as the daemon would, account by account in turn, and says by how much the file
 * grew. Every value is read back and compared.
 */
export function growHistory(path: string, accounts: number): GrownHistory {
  const before = statSync(path).size;
  const last = lastReadings(path, accounts);
  const added = last.map((reading, number) => continueFrom(reading, number));
  const store = openSqliteStore({ path, log: silent, now: systemClock.now, program: 'bench' });
  for (let round = 0; round < addedPolls; round++) {
    for (let from = 0; from < accounts; from += pollsPerCommit) {
      store.commit(batchOf(added, { round, from, until: Math.min(accounts, from + pollsPerCommit) }));
    }
  }
  store.close();
  compare(path, added);
  return {
    addedPolls: addedPolls * accounts,
    bytesPerPoll: (statSync(path).size - before) / (addedPolls * accounts),
  };
}

function lastReadings(path: string, accounts: number): Reading[] {
  const reader = openSqliteReader({ path });
  const found = Array.from({ length: accounts }, (_, number) => {
    const reading = reader.readingBefore(accountId(number), Number.MAX_SAFE_INTEGER);
    if (reading === null) throw new Error(`${accountId(number)} has no reading`);
    return reading;
  });
  reader.close();
  return found;
}

/** Polls come some milliseconds off the grid and balances fall by almost the same, as they do in a run. */
function continueFrom(last: Reading, number: number): readonly Reading[] {
  return Array.from({ length: addedPolls }, (_, round) => {
    const jitter = (round * 7 + number * 13) % 5;
    const sms = (last.balances.sms ?? 0) - (round + 1) * burnPer20sMicros - jitter * 3;
    return {
      ...last,
      at: last.at + (round + 1) * intervalMs + jitter,
      balances: { ...last.balances, sms },
    };
  });
}

function batchOf(
  added: readonly (readonly Reading[])[],
  { round, from, until }: { readonly round: number; readonly from: number; readonly until: number },
): Batch {
  const polls = added.slice(from, until).flatMap((readings, index) => {
    const reading = readings[round];
    const account = accountId(from + index);
    return reading === undefined
      ? []
      : [{ account, poll: { at: reading.at, outcome: 'ok' as const, reading } }];
  });
  return batch({ polls });
}

function compare(path: string, added: readonly (readonly Reading[])[]): void {
  const reader = openSqliteReader({ path });
  for (const [number, readings] of added.entries()) {
    const since = readings[0]?.at ?? 0;
    const found = [...reader.readings({ ...everything, account: accountId(number), since })].flat();
    if (JSON.stringify(found) !== JSON.stringify(readings)) {
      throw new Error(`${accountId(number)}: what was stored is not what came back`);
    }
  }
  reader.close();
}
