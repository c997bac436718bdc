import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { StorageError } from '../../../src/domain/operator-error.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { openPostgresReader } from '../../../src/store/postgres/reader.ts';
import { noPostgres, sharedPostgres } from '../../support/postgres.ts';
import { makeDatabase, open, program } from './fixtures.ts';

async function failureAt(change: (url: URL) => void): Promise<unknown> {
  const url = new URL((await makeDatabase()).reveal());
  change(url);
  return openPostgresReader({ url: new Secret(url.href), program }).catch((error: unknown) => error);
}

describe.skipIf(noPostgres !== null)('a database that cannot be used', () => {
  it.each([
    ['nobody listens', (url: URL) => (url.port = '1'), 'nobody listens at the address', 'other'],
    ['the host is unknown', (url: URL) => (url.hostname = 'nowhere.invalid'), 'host name', 'other'],
    [
      'the password is wrong',
      (url: URL) => (url.password = 'sesame-open'),
      'refuses the user or password',
      'unfit',
    ],
    ['there is no password', (url: URL) => (url.password = ''), 'signing in failed', 'unfit'],
    [
      'the user is unknown',
      (url: URL) => (url.username = 'mallory'),
      'refuses the user or password',
      'unfit',
    ],
    [
      'there is no such database',
      (url: URL) => (url.pathname = '/secretplans'),
      'does not exist: create it',
      'unfit',
    ],
    [
      'it is asked to encrypt, and no word is said of certificates,',
      (url: URL) => (url.search = '?sslmode=require'),
      'speaks no TLS',
      'unfit',
    ],
    [
      'it is asked to encrypt and cannot',
      (url: URL) => (url.search = '?sslmode=verify-full'),
      'speaks no TLS',
      'unfit',
    ],
  ])('says what to do where %s, and names neither address nor user', async (_name, change, advice, final) => {
    const failure = await failureAt(change);
    expect(failure).toBeInstanceOf(StorageError);
    const { message, kind } = failure instanceof StorageError ? failure : { message: '', kind: '' };
    expect(message).toContain(advice);
    expect(kind).toBe(final);
    const { password } = await sharedPostgres();
    for (const secret of [
      password,
      encodeURIComponent(password),
      'sesame-open',
      'mallory',
      'secretplans',
      '127.0.0.1',
      'nowhere.invalid',
    ])
      expect(message).not.toContain(secret);
    expect(inspect(failure, { depth: 9 })).not.toContain(password);
  });

  it('says so when it is asked after it was closed', async () => {
    const url = await makeDatabase();
    const cluster = await open(url);
    await cluster.close();
    await expect(cluster.look()).rejects.toBeInstanceOf(StorageError);
  });

  it('is reported by its own server, where that refuses', async () => {
    const cluster = await open(await makeDatabase());
    await expect(cluster.reader.backup('/tmp/copy')).rejects.toThrow('pg_dump');
  });
});
