import { cpSync, renameSync, rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import { StorageError } from '../../../src/domain/operator-error.ts';
import { openSqliteReader } from '../../../src/store/sqlite/reader.ts';
import { batch, incident, noon } from './batches.ts';
import { makePath, open } from './fixtures.ts';

const first = batch({ incidents: [incident('incident-1')] });
const second = batch({ incidents: [incident('incident-2')] });

it.each<[string, (path: string) => void]>([
  ['removed', (path) => rmSync(path)],
  ['moved away', (path) => renameSync(path, `${path}.old`)],
  [
    'replaced by a copy',
    (path) => {
      cpSync(path, `${path}.copy`);
      renameSync(`${path}.copy`, path);
    },
  ],
])('a database that is %s under a running daemon stores nothing, and says so', (_name, move) => {
  const path = makePath();
  const store = open(path);
  store.commit(first);
  move(path);
  expect(() => store.commit(second)).toThrow(StorageError);
  expect(() => store.commit(second)).toThrow(/was removed or replaced.*restart lowwater/);
});

it('one that is put back goes on where it was', () => {
  const path = makePath();
  const store = open(path);
  store.commit(first);
  renameSync(path, `${path}.away`);
  expect(() => store.commit(second)).toThrow(StorageError);
  renameSync(`${path}.away`, path);
  store.commit(second);
  store.close();
  const reader = openSqliteReader({ path, now: () => noon });
  const ids = reader.incidents({}).map(({ id }) => id);
  reader.close();
  expect(ids.toSorted()).toEqual(['incident-1', 'incident-2']);
});
