import { cpSync, existsSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { leaveOrder } from '../../../src/store/sqlite/orders.ts';
import type { SqliteStore } from '../../../src/store/sqlite/port.ts';
import { openSqliteReader } from '../../../src/store/sqlite/reader.ts';
import { always, batch, minuteMs, noon, ok, pollsOf } from './batches.ts';
import { startChild } from './child.ts';
import { makeDirectory, makePath, open } from './fixtures.ts';

describe('a daemon that is killed without warning', () => {
  it.each([1, 400])('has stored all that it said was stored, whole, after %i commits', async (commits) => {
    const path = makePath();
    const child = startChild(path, 'commit');
    for (let said = 0; said <= commits; said += 1) await child.line();
    const last = Number((await child.kill()).at(-1) ?? commits - 1);
    const store = open(path);
    const stored = readBack(store);
    expect(stored).toBeGreaterThanOrEqual(last + 1);
    // At most the one commit whose answer the kill cut off.
    expect(stored).toBeLessThanOrEqual(last + 2);
    store.commit(batch({ polls: pollsOf('otp', [ok(noon + stored * minuteMs, stored)]) }));
    expect([...store.polls({ account: 'otp', ...always })].flat()).toHaveLength(stored + 1);
  });

  it('loses only whole commits, newest first, when the end of its write-ahead log is lost as well', async () => {
    const path = makePath();
    const child = startChild(path, 'commit');
    for (let said = 0; said <= 60; said += 1) await child.line();
    const last = Number((await child.kill()).at(-1) ?? 59);
    const logBytes = statSync(`${path}-wal`).size;
    for (let step = 0; step <= 12; step += 1) {
      const copy = join(makeDirectory(), 'copy');
      cpSync(dirname(path), copy, { recursive: true });
      const copied = join(copy, 'lowwater.db');
      truncateSync(`${copied}-wal`, 40_000 + Math.floor(((logBytes - 40_000) * step) / 12) - (step % 2));
      const store = open(copied);
      expect(readBack(store)).toBeLessThanOrEqual(last + 2);
      store.close();
    }
  });

  it.skipIf(!existsSync('/proc/locks'))(
    'is followed by none that begins the index of the log anew under a command that leaves an order beside what it reads',
    async () => {
      const path = makePath();
      const child = startChild(path, 'commit');
      for (let said = 0; said <= 3; said += 1) await child.line();
      await child.kill();
      const reader = openSqliteReader({ path });
      leaveOrder(path, { kind: 'expire', id: 'silence-1', at: noon });
      // Held by whoever has the index open: a process that can take it alone empties the file (https://sqlite.org/walformat.html, 2.3.1).
      const held = `${process.pid} .*:${statSync(`${path}-shm`).ino} 128 128`;
      expect(readFileSync('/proc/locks', 'utf8')).toMatch(new RegExp(held));
      reader.close();
    },
  );
});

/** Checks that polls and messages go together and are the first so many that were made; gives how many. */
function readBack(store: SqliteStore): number {
  const polls = [...store.polls({ account: 'otp', ...always })].flat();
  const expected = polls.map((_, number) => ok(noon + number * minuteMs, number));
  expect(polls).toEqual(expected);
  expect(store.load().messages.map(({ id }) => id)).toEqual(expected.map((_, number) => `m${number}`));
  return polls.length;
}
