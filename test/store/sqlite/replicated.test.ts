import Database from 'better-sqlite3';
import { expect, it, onTestFinished } from 'vitest';
import { openSqlFile } from '../../../src/store/store.ts';
import { batch, dayMs, makePollEveryHour, noon, pollsOf } from './batches.ts';
import { makePath, open } from './fixtures.ts';

/**
 * What Litestream does next to an application (https://litestream.io/how-it-works/): it holds a read transaction so that
 * nobody else's checkpoint starts the log again, lets go of it for a passive checkpoint of its own, and writes a row of a
 * table of its own so that the log has a frame again.
 */
it('a replicator that holds the log and checkpoints it next to the daemon costs no commit and no reading', async () => {
  const path = makePath();
  const store = open(path);
  await store.commit(batch());
  const replicator = new Database(path);
  onTestFinished(() => void replicator.close());
  replicator.pragma('wal_autocheckpoint = 0');
  replicator.exec(
    'CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER); CREATE TABLE _litestream_lock (id INTEGER)',
  );
  replicator.exec('BEGIN; SELECT count(*) FROM _litestream_seq');
  for (let day = 0; day < 400; day += 1) {
    const polls = pollsOf('otp', makePollEveryHour(noon + day * dayMs, 1));
    await store.commit(batch({ polls, notes: { large: `${day}`.repeat(20_000) } }));
    if (day % 20 !== 19) continue;
    replicator.exec('ROLLBACK');
    replicator.pragma('wal_checkpoint(PASSIVE)');
    replicator.exec(
      'INSERT INTO _litestream_seq (id, seq) VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET seq = seq + 1',
    );
    replicator.exec('BEGIN; SELECT count(*) FROM _litestream_seq');
  }
  replicator.exec('ROLLBACK');
  const file = openSqlFile(path);
  onTestFinished(() => file.close());
  const answer = file.ask('SELECT count(*), count(DISTINCT at) FROM reading');
  expect(answer.kind === 'answer' && [...answer.rows]).toEqual([[9600, 9600]]);
});
