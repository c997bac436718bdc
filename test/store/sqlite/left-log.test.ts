import fs, { cpSync, existsSync, type PathLike } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import Database from 'better-sqlite3';
import { afterEach, expect, it } from 'vitest';
import { openSqliteReader } from '../../../src/store/sqlite/reader.ts';
import { startChild } from './child.ts';
import { makePath, open } from './fixtures.ts';

const { statSync } = fs;

function setStat(stat: typeof statSync): void {
  Object.assign(fs, { statSync: stat });
  syncBuiltinESMExports();
}

afterEach(() => setStat(statSync));

/** Does something before or after the look of that number at one of the files of a log; gives how many looks there were. */
function atLook(number: number, when: string, work: () => void): () => number {
  let looks = 0;
  const look = (path: PathLike, options?: undefined) => {
    const isThen = /-(?:wal|shm)$/.test(String(path)) && ++looks === number;
    if (isThen && when === 'before') work();
    const found = statSync(path, options);
    if (isThen && when === 'after') work();
    return found;
  };
  setStat(Object.assign(look, statSync));
  return () => looks;
}

/** As a command does that ends. */
function foldIn(path: string): void {
  const db = new Database(path);
  db.pragma('user_version');
  db.close();
}

it.each([
  ['command', (path: string) => openSqliteReader({ path })],
  ['daemon', (path: string) => open(path)],
] as const)(
  'a log that another command folds in at any moment while a %s begins is not called damaged',
  async (_who, begin) => {
    const killed = makePath();
    const child = startChild(killed, 'commit');
    for (let said = 0; said <= 3; said += 1) await child.line();
    await child.kill();
    let looks = 1;
    for (let look = 1; look <= looks; look += 1) {
      for (const when of ['before', 'after']) {
        const path = makePath();
        for (const end of ['', '-wal', '-shm']) cpSync(killed + end, path + end);
        const countLooks = atLook(look, when, () => foldIn(path));
        const store = begin(path);
        looks = countLooks();
        setStat(statSync);
        expect(store.load().damagedRecords ?? [], `${when} look ${look}`).toEqual([]);
        store.close();
        expect(existsSync(`${path}-wal.damaged`)).toBe(false);
      }
    }
  },
);
