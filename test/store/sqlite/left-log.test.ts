import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { openSqliteReader } from '../../../src/store/sqlite/reader.ts';
import { startChild } from './child.ts';
import { makePath } from './fixtures.ts';

/** Opens and closes each database that it is told, which folds the log in and removes it. */
const fold = `const Database = require('better-sqlite3');
process.on('message', (path) => {
  const db = new Database(path);
  db.pragma('user_version');
  db.close();
  process.send('folded');
});
process.send('ready');`;

it('a log that another command folds in while this one looks at it is not called damaged', async () => {
  const killed = makePath();
  const child = startChild(killed, 'commit');
  for (let said = 0; said <= 400; said += 1) await child.line();
  await child.kill();
  const other = spawn(process.execPath, ['-e', fold], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  onTestFinished(() => void other.kill('SIGKILL'));
  await once(other, 'message');
  for (let time = 0; time < 100; time += 1) {
    const path = makePath();
    for (const end of ['', '-wal', '-shm']) cpSync(killed + end, path + end);
    const folded = once(other, 'message');
    await new Promise((sent) => other.send(path, sent));
    // How soon the other one gets there depends on the machine.
    await new Promise((over) => setTimeout(over, time % 10));
    expect(() => openSqliteReader({ path }).close()).not.toThrow();
    await folded;
  }
});
