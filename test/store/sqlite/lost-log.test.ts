import { cpSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { StorageError } from '../../../src/domain/operator-error.ts';
import { openSqliteReader } from '../../../src/store/sqlite/reader.ts';
import { leaveOrder } from '../../../src/store/store.ts';
import { mountSmallDisk } from '../../support/small-disk.ts';
import { always, batch, incident, minuteMs, noon, ok, pollsOf } from './batches.ts';
import { startChild } from './child.ts';
import { makeDirectory, makePath, open } from './fixtures.ts';

const readings = Array.from({ length: 50 }, (_, index) => ok(noon + index * minuteMs, index * 977));
const before = batch({ incidents: [incident('incident-1')], polls: pollsOf('otp', readings.slice(0, 49)) });
const after = batch({ incidents: [incident('incident-2')], polls: pollsOf('otp', readings.slice(49)) });

const losses: readonly [string, (path: string) => void][] = [
  ['removed', (path) => rmSync(`${path}-wal`)],
  ['removed with its index', (path) => rmBoth(path)],
  ['replaced by an older one', (path) => replaceLog(path)],
  ['cut to nothing', (path) => truncateSync(`${path}-wal`, 0)],
  ['cut in the middle', (path) => truncateSync(`${path}-wal`, 9000)],
];

function rmBoth(path: string): void {
  for (const end of ['-wal', '-shm']) rmSync(path + end);
}

function replaceLog(path: string): void {
  rmSync(`${path}-wal`);
  writeFileSync(`${path}-wal`, Buffer.alloc(32 + 4120, 7));
}

/** What the next process finds after this one is killed: the files as they lie there. */
function storedNow(path: string): { incidents: string[]; polls: unknown[] } {
  const copy = `${path}.${Math.round(performance.now() * 1000)}`;
  for (const end of ['', '-wal']) cpSync(path + end, copy + end);
  const reader = openSqliteReader({ path: copy, now: () => noon });
  const incidents = reader.incidents({}).map(({ id }) => id);
  const polls = [...reader.polls({ account: 'otp', ...always })].flat();
  reader.close();
  return { incidents: incidents.toSorted(), polls };
}

describe.each(losses)('a write-ahead log that is %s under a running daemon', (_name, lose) => {
  it('is reported once, and then everything is in the database again, nothing twice', () => {
    const path = makePath();
    const store = open(path);
    store.commit(before);
    lose(path);
    expect(() => store.takeOrders()).toThrow(StorageError);
    expect(() => store.commit(after)).toThrow(/write-ahead log .*-wal was (?:cut|removed or replaced)/);
    store.commit(after);
    expect(storedNow(path)).toEqual({ incidents: ['incident-1', 'incident-2'], polls: readings });
    expect(
      store
        .incidents({})
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual(['incident-1', 'incident-2']);
    store.commit(batch({ incidents: [incident('incident-3')] }));
    store.close();
    const again = open(path);
    expect(again.incidents({})).toHaveLength(3);
    expect([...again.polls({ account: 'otp', ...always })].flat()).toEqual(readings);
  });

  it('brings no order back that was carried out', () => {
    const path = makePath();
    const store = open(path);
    store.commit(before);
    const order = { kind: 'expire', id: 'silence-1', at: noon } as const;
    leaveOrder(path, order);
    expect(store.takeOrders()).toEqual([order]);
    lose(path);
    expect(() => store.commit(after)).toThrow(StorageError);
    store.commit(after);
    expect(store.takeOrders()).toEqual([]);
    store.commit(batch());
    store.close();
    expect(open(path).takeOrders()).toEqual([]);
  });

  it('is noticed by the daemon while nothing changes', () => {
    const path = makePath();
    const store = open(path);
    store.commit(before);
    expect(store.takeOrders()).toEqual([]);
    lose(path);
    expect(() => store.takeOrders()).toThrow(/write-ahead log/);
  });
});

describe.each(losses)(
  'a write-ahead log that is %s under a database that is damaged as well',
  (_name, lose) => {
    it('is a failure to store, however often it is tried, and nothing is lost once the file is whole', () => {
      const path = makePath();
      const store = open(path);
      store.commit(before);
      const whole = readFileSync(path);
      lose(path);
      expect(() => store.commit(after)).toThrow(StorageError);
      writeFileSync(path, Buffer.alloc(whole.length, 7));
      for (let attempt = 0; attempt < 3; attempt += 1) {
        expect(() => store.commit(after)).toThrow(StorageError);
        expect(() => store.load()).toThrow(StorageError);
      }
      writeFileSync(path, whole);
      store.commit(after);
      expect(store.incidents({}).map(({ id }) => id)).toContain('incident-2');
      store.close();
    });
  },
);

it.for([0, 4, 16])(
  'a log that is cut on a disk with room for %i pages loses nothing once there is more',
  (pages, context) => {
    const disk = mountSmallDisk(join(makeDirectory(), 'disk'), 'size=2m');
    if (disk === null) return context.skip('only root can mount a small file system');
    onTestFinished(() => disk.unmount());
    const path = join(disk.path, 'lowwater.db');
    const store = open(path);
    const incidents = readings.slice(0, 10).map((_, index) => incident(`incident-${index}`));
    const batches = incidents.map((each, index) =>
      batch({ incidents: [each], polls: pollsOf('otp', readings.slice(index, index + 1)) }),
    );
    for (const each of batches) store.commit(each);
    truncateSync(`${path}-wal`, 0);
    disk.leave(pages * 4096);
    for (let attempt = 0; attempt < 3; attempt += 1)
      expect(() => store.commit(batch())).toThrow(StorageError);
    disk.free();
    store.commit(batch());
    expect(storedNow(path)).toEqual({
      incidents: incidents.map(({ id }) => id),
      polls: readings.slice(0, 10),
    });
  },
);

it('a log that is cut while another process locks the database holds the daemon up no moment', () => {
  const path = makePath();
  const store = open(path);
  store.commit(before);
  truncateSync(`${path}-wal`, 0);
  const other = new Database(path);
  other.exec('BEGIN IMMEDIATE');
  const began = performance.now();
  for (let attempt = 0; attempt < 2; attempt += 1) expect(() => store.commit(after)).toThrow(StorageError);
  expect(performance.now() - began).toBeLessThan(2500);
  other.exec('COMMIT');
  other.close();
  store.commit(after);
  expect(storedNow(path)).toEqual({ incidents: ['incident-1', 'incident-2'], polls: readings });
});

it('a log that another process folds in is no loss, and orders still arrive', () => {
  const path = makePath();
  const store = open(path);
  store.commit(before);
  const order = { kind: 'expire', id: 'silence-1', at: noon } as const;
  leaveOrder(path, order);
  expect(store.takeOrders()).toEqual([order]);
  store.commit(after);
  expect(storedNow(path)).toEqual({ incidents: ['incident-1', 'incident-2'], polls: readings });
});

it('a daemon that runs on after the loss forgets nothing when it is killed', async () => {
  const path = makePath();
  const daemon = startChild(path, 'survive');
  expect(await daemon.line()).toBe('open');
  for (let count = 0; count < 3; count += 1) await daemon.line();
  truncateSync(`${path}-wal`, 0);
  while ((await daemon.line()) !== 'lost');
  let last = 0;
  for (let count = 0; count < 3; count += 1) last = Number(await daemon.line());
  await daemon.kill();
  const polls = [...open(path).polls({ account: 'otp', ...always })].flat();
  expect(polls.slice(0, last + 1).map(({ at }) => at)).toEqual(
    Array.from({ length: last + 1 }, (_, number) => noon + number * minuteMs),
  );
});
