/**
 * A daemon to be killed: opens the database named first, says `open`, and then, when the second argument is
 * `commit`, stores one poll and one message after another and says the number of each that is stored. `survive` does it
 * every 50 ms, says `lost` where it cannot, and tries again.
 * `refused: …` when it cannot open. With a third argument it takes on that user id first.
 */
import { writeSync } from 'node:fs';
import { setInterval } from 'node:timers';
import { setTimeout } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { StorageError } from '../../../src/domain/operator-error.ts';
import { readMigrations } from '../../../src/store/migrations.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open-store.ts';
import { batch, message, minuteMs, noon, ok, pollsOf, silent } from './batches.ts';

const [path = '', task, uid] = process.argv.slice(2);
// The other user may not be allowed into the folder that the project lies in: what is read late is read before it takes over.
const migrations = readMigrations();
new Database(':memory:').close();
if (uid !== undefined) process.setuid?.(Number(uid));
try {
  const store = openSqliteStore({
    path,
    log: silent,
    now: () => noon,
    program: 'lowwater 1.0.0',
    migrations,
  });
  say('open');
  const commit = (number: number): void => {
    const at = noon + number * minuteMs;
    store.commit(
      batch({
        polls: pollsOf('otp', [ok(at, number)]),
        messages: [message(`m${number}`, { createdAt: at })],
      }),
    );
    say(String(number));
  };
  for (let number = 0; task === 'commit'; number += 1) commit(number);
  for (let number = 0; task === 'survive'; number += 1) {
    await setTimeout(50);
    try {
      commit(number);
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      say('lost');
      number -= 1;
    }
  }
  setInterval(() => {}, 1000);
} catch (error) {
  if (!(error instanceof StorageError)) throw error;
  say(`refused: ${error.kind}: ${error.message}`);
}

function say(line: string): void {
  writeSync(1, `${line}\n`);
}
