import { inspect } from 'node:util';
import { DatabaseError } from 'pg';
import { describe, expect, it } from 'vitest';
import { StorageError } from '../../../src/domain/operator-error.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { asStorageError } from '../../../src/store/postgres/failure.ts';
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

const password = 'p4ss+Word "of" 4711';
const url = `postgres://lowwater:${encodeURIComponent(password)}@one:5432,two:5432/lowwater`;

it.each([
  ['as it is', password],
  ['URL-encoded', encodeURIComponent(password)],
  ['in base64', Buffer.from(`u:${password}`).toString('base64')],
  ['in hexadecimal', Buffer.from(password).toString('hex')],
  ['with the address', url],
])('a password that the server or a pooler repeats %s is hidden in its words, the code stays', (_, form) => {
  const said = Object.assign(new DatabaseError(`no tenant for ${form}`, 20, 'error'), { code: 'XX000' });
  const failure = asStorageError(said, 'unsent', url);
  expect(failure).toMatchObject({
    message: expect.stringMatching(/the server failed \(XX000: .*\[secret\]/),
  });
  expect(String(failure)).not.toContain(form);
});

it('a password that stands among the parameters of the address is hidden too', () => {
  const said = Object.assign(new DatabaseError('no tenant for p4ss+Word', 20, 'error'), { code: 'XX000' });
  const failure = asStorageError(
    said,
    'unsent',
    'postgres://one/lowwater?user=lowwater&password=p4ss%2BWord',
  );
  expect(String(failure)).toContain('no tenant for [secret]');
});

it('a user that may not log in is named among what the server may refuse, with what lets it in', () => {
  const said = Object.assign(new DatabaseError('role "mallory" is not permitted to log in', 20, 'error'), {
    code: '28000',
  });
  const { message } = asStorageError(said, 'unsent', url) as StorageError;
  expect(message).toContain('the user may not log in (ALTER ROLE … LOGIN)');
  expect(message).not.toContain('mallory');
});

it('a server that wants TLS, or lists no such user or machine, is not said to refuse a password', () => {
  const words = 'no pg_hba.conf entry for host "10.0.0.9", user "mallory", database "plans", no encryption';
  const said = Object.assign(new DatabaseError(words, 20, 'error'), { code: '28000' });
  const { message, kind } = asStorageError(said, 'unsent', url) as StorageError;
  expect(kind).toBe('unfit');
  expect(message).toMatch(/does not let storage.postgres.url in: its pg_hba.conf may want TLS .*\(28000\)$/);
  expect(message).not.toMatch(/password|10\.0|mallory|plans/);
});

it.each([
  ['CERT_HAS_EXPIRED', 'has expired: renew it on the server', 'unfit'],
  ['CERT_NOT_YET_VALID', 'not valid yet: set the clock of this machine', 'other'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'for another host', 'unfit'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'not trusted: name the authority', 'unfit'],
  ['ERR_SSL_SSL/TLS_ALERT_CERTIFICATE_EXPIRED', 'refuses the client certificate', 'unfit'],
  ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'refuses the client certificate', 'unfit'],
  ['ERR_OSSL_X509_KEY_VALUES_MISMATCH', 'certificate file', 'unfit'],
])(
  'a certificate that ends in %s is named for what it is, and a start waits only where waiting helps',
  (code, advice, kind) => {
    const failure = asStorageError(Object.assign(new Error('of TLS'), { code }), 'unsent', url);
    expect(failure).toMatchObject({ kind, message: expect.stringContaining(advice) });
  },
);
