import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { StorageError } from '../../../src/domain/operator-error.ts';
import { openSqliteReader } from '../../../src/store/sqlite/reader.ts';
import { mountSmallDisk } from '../../support/small-disk.ts';
import { accountState, always, batch, message, minuteMs, noon, ok, pollsOf } from './batches.ts';
import { startChild } from './child.ts';
import { makeDirectory, makePath, open } from './fixtures.ts';

describe('a backup', () => {
  it('taken by another process while the daemon writes is whole: of each commit all or nothing', async () => {
    const path = makePath();
    const child = startChild(path, 'commit');
    for (let said = 0; said < 50; said += 1) await child.line();
    const reader = openSqliteReader({ path });
    const files = [1, 2, 3].map((number) => join(dirname(path), `backup-${number}.db`));
    for (const file of files) await reader.backup(file);
    reader.close();
    await child.kill();
    for (const file of files) {
      expect(integrityOf(file)).toBe('ok');
      const copy = openSqliteReader({ path: file });
      const polls = [...copy.polls({ account: 'otp', ...always })].flat();
      expect(polls).toEqual(polls.map((_, number) => ok(noon + number * minuteMs, number)));
      expect(copy.load().messages).toHaveLength(polls.length);
      expect(polls.length).toBeGreaterThan(48);
      copy.close();
    }
  });

  it('taken by the daemon itself goes on while it commits', async () => {
    const store = open(makePath());
    const polls = Array.from({ length: 50_000 }, (_, count) =>
      ok(noon + count * minuteMs, (count * 7919) ** 2 % 1e12),
    );
    store.commit(batch({ polls: pollsOf('otp', polls) }));
    const file = join(makeDirectory(), 'backup.db');
    let done = false;
    const copying = store.backup(file).finally(() => {
      done = true;
    });
    let commits = 0;
    while (!done) {
      commits += 1;
      store.commit(batch({ messages: [message(`m${commits}`)], notes: { commits: String(commits) } }));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await copying;
    expect(commits).toBeGreaterThan(1);
    expect(integrityOf(file)).toBe('ok');
    const copy = openSqliteReader({ path: file });
    expect([...copy.polls({ account: 'otp', ...always })].flat()).toEqual(polls);
    expect(copy.load().messages).toHaveLength(Number(copy.load().notes.commits));
    copy.close();
  });

  it('put in place of a lost database is one to go on with', async () => {
    const path = makePath();
    const file = `${path}.backup`;
    const store = open(path);
    store.commit(batch({ accounts: [accountState('otp')], polls: pollsOf('otp', [ok(noon, 1)]) }));
    await store.backup(file);
    const state = store.load();
    store.close();
    writeFileSync(path, 'lost');
    renameSync(file, path);
    const restored = open(path);
    expect(restored.load()).toEqual(state);
    restored.commit(batch({ polls: pollsOf('otp', [ok(noon + 1, 2)]) }));
    expect(
      [...restored.readings({ account: 'otp', ...always })].flat().map(({ balances }) => balances.sms),
    ).toEqual([1, 2]);
  });

  it('is refused where a table is missing, and nothing is copied', async () => {
    const path = makePath();
    open(path).close();
    const db = new Database(path);
    db.exec('DROP TABLE backoff');
    db.close();
    const reader = openSqliteReader({ path });
    const file = `${path}.backup`;
    await expect(reader.backup(file)).rejects.toThrow(
      `database ${path}: it is damaged: its tables are not those of lowwater`,
    );
    reader.close();
    expect(readdirSync(dirname(path)).filter((name) => name.includes('backup'))).toEqual([]);
  });

  it('never overwrites a file, and leaves nothing half-made', async () => {
    const path = makePath();
    const store = open(path);
    const file = join(dirname(path), 'precious');
    writeFileSync(file, 'precious');
    await expect(store.backup(file)).rejects.toThrow(
      `${file} exists already: a backup never overwrites a file`,
    );
    await expect(store.backup(path)).rejects.toThrow('exists already');
    const missing = join(dirname(path), 'missing', 'backup.db');
    await expect(store.backup(missing)).rejects.toThrow(
      `the directory ${dirname(missing)} for the backup does not exist`,
    );
    const loop = join(dirname(path), 'loop');
    symlinkSync(loop, `${loop}.partial`);
    symlinkSync(`${loop}.partial`, loop);
    await expect(store.backup(join(loop, 'backup.db'))).rejects.toThrow(StorageError);
    expect(readFileSync(file, 'utf8')).toBe('precious');
    expect(existsSync(`${file}.partial`)).toBe(false);
  });

  it('leaves nothing half-made on a disk that is full, whichever of its pages finds no room', async (context) => {
    const disk = mountSmallDisk(join(makeDirectory(), 'full'), 'size=1m');
    if (disk === null) return context.skip('only root can mount a small file system');
    onTestFinished(() => disk.unmount());
    const path = makePath();
    const store = open(path);
    const left = new Set<string>();
    for (let rooms = -1; rooms <= 9; rooms += 1) {
      disk.leave(statSync(path).size + rooms * 4096);
      const isMade = await store.backup(join(disk.path, 'copy.db')).then(
        () => true,
        () => false,
      );
      left.add(`${isMade} ${readdirSync(disk.path).filter((name) => name !== 'filler')}`);
      rmSync(join(disk.path, 'copy.db'), { force: true });
    }
    expect([...left].toSorted()).toEqual(['false ', 'true copy.db']);
  });
});

function integrityOf(file: string): unknown {
  const db = new Database(file, { readonly: true });
  try {
    return db.pragma('integrity_check', { simple: true });
  } finally {
    db.close();
  }
}
