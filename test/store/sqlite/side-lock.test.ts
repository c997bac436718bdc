import { copyFileSync, existsSync, linkSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { StorageError } from '../../../src/domain/operator-error.ts';
import { isLocked, takeSideLock } from '../../../src/store/sqlite/side-lock.ts';
import { batch, noon } from './batches.ts';
import { startChild } from './child.ts';
import { makeDirectory, makePath, open } from './fixtures.ts';

describe('a second daemon on the same database', () => {
  it('gives up within a second and says which process holds it', async () => {
    const path = makePath();
    const first = startChild(path, 'wait');
    expect(await first.line()).toBe('open');
    const begin = performance.now();
    const refusal = refusalOf(path);
    expect(performance.now() - begin).toBeLessThan(4000);
    expect(refusal.kind).toBe('busy');
    expect(refusal.message).toBe(
      `database ${path} is in use by lowwater 1.0.0, process ${first.pid} on ${hostname()}, ` +
        'running since 2026-11-20T12:00:00.000Z: stop it first, or give this one another storage.path',
    );
  });

  it('names no process that is gone, while the one after it is about to write itself in', async () => {
    const path = makePath();
    const gone = startChild(path, 'wait');
    await gone.line();
    await gone.kill();
    const lock = takeSideLock(path);
    expect(refusalOf(path).message).toBe(
      `database ${path} is in use by another process: stop it first, or give this one another storage.path`,
    );
    lock?.release();
  });

  it('leaves the first one alone', () => {
    const path = makePath();
    const store = open(path);
    refusalOf(path);
    store.commit(batch({ notes: { alive: '1' } }));
    expect(store.load().notes).toEqual({ alive: '1' });
  });

  it('is refused by every other way to the database, and the holder is named', async () => {
    const path = makePath();
    const first = startChild(path, 'wait');
    expect(await first.line()).toBe('open');
    const other = join(makeDirectory(), 'other.db');
    symlinkSync(path, `${path}.link`);
    linkSync(path, other);
    const named = `process ${first.pid} on ${hostname()}`;
    for (const way of [`${path}.link`, other])
      expect(refusalOf(way)).toMatchObject({ kind: 'busy', message: expect.stringContaining(named) });
    rmSync(`${path}-lock`);
    for (const way of [path, other])
      expect(refusalOf(way)).toMatchObject({ kind: 'busy', message: expect.stringContaining(named) });
    await first.kill();
    open(other).commit(batch({ notes: { alive: '1' } }));
  });

  it('that starts by another name of a database learns where the newest part of it lies', async () => {
    const path = makePath();
    open(path).close();
    const daemon = startChild(path, 'commit');
    for (let count = 0; count < 5; count += 1) await daemon.line();
    await daemon.kill();
    linkSync(path, `${path}.other`);
    expect(refusalOf(`${path}.other`).message).toContain(`set storage.path to that name`);
    open(path);
  });

  it('that was let in all the same, as from another machine, ends the first one before it stores or tells anything', () => {
    const path = makePath();
    const store = open(path);
    const db = new Database(path);
    const other = { pid: 7, host: 'elsewhere', startedAt: noon, program: 'lowwater 1.0.0' };
    db.prepare("UPDATE note SET value = ? WHERE name = '@owner'").run(JSON.stringify(other));
    db.close();
    const words = /taken over by lowwater 1.0.0, process 7 on elsewhere/;
    expect(() => store.takeOrders()).toThrow(words);
    expect(() => store.commit(batch({ notes: { alive: '1' } }))).toThrow(words);
    expect(store.load().notes).toEqual({});
  });

  it('finds the lock again a tick after it was removed', () => {
    const path = makePath();
    const store = open(path);
    rmSync(`${path}-lock`);
    store.takeOrders();
    expect(existsSync(`${path}-lock`)).toBe(true);
    expect(isLocked(path)).toBe(true);
  });

  it('that found the lock removed and is about to be refused does not end the first one', () => {
    const path = makePath();
    const store = open(path);
    rmSync(`${path}-lock`);
    const second = takeSideLock(path);
    store.takeOrders();
    store.commit(batch({ notes: { alive: '1' } }));
    second?.release();
    store.takeOrders();
    expect(isLocked(path)).toBe(true);
    expect(store.load().notes).toEqual({ alive: '1' });
  });

  it('finds nothing of the first in a copy of its database', () => {
    const path = makePath();
    open(path);
    const copy = `${path}.copy`;
    copyFileSync(path, copy);
    open(copy).commit(batch({ notes: { alive: '1' } }));
  });

  it('starts at once when the first was killed', async () => {
    const path = makePath();
    const first = startChild(path, 'wait');
    await first.line();
    await first.kill();
    const begin = performance.now();
    open(path).commit(batch({ notes: { alive: '1' } }));
    expect(performance.now() - begin).toBeLessThan(4000);
  });

  it('starts when the first was stopped', () => {
    const path = makePath();
    open(path).close();
    expect(open(path).load().notes).toEqual({});
  });
});

it('a daemon leaves nothing of itself behind when it stops but an empty lock file', () => {
  const path = makePath();
  open(path).close();
  expect(readdirSync(dirname(path)).toSorted()).toEqual(['lowwater.db', 'lowwater.db-lock']);
});

function refusalOf(path: string): StorageError {
  try {
    open(path);
  } catch (error) {
    if (error instanceof StorageError) return error;
    throw error;
  }
  throw new Error('the second daemon was let in');
}
