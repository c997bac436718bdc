import { DatabaseError } from 'pg';
import { parseAddress, passwordsIn } from '../../domain/addresses.ts';
import { createForeignTexts } from '../../domain/foreign-text.ts';
import { StorageError } from '../../domain/operator-error.ts';
import { PollCodecError } from '../runs/poll-bytes.ts';

type Kind = StorageError['kind'];

/**
 * The meaning of PostgreSQL's codes (https://www.postgresql.org/docs/current/errcodes-appendix.html; a class is the first two
 * characters) for an operator. With a code that has a kind, the server says that it did nothing. While starting, a daemon waits on such
 * codes, but ends on `unfit` and `corrupt`: an operator has to change something. With the codes whose kind is null, and
 * without any code, it is unknown whether the statement was executed.
 */
const answers: readonly (readonly [prefix: string, kind: Kind | null, advice: string])[] = [
  ['53100', 'full', 'the disk of the server is full: free some space'],
  [
    '53300',
    'busy',
    'the server takes no more connections: raise max_connections, or let PgBouncer share them',
  ],
  ['53', 'full', 'the server lacks memory or another resource'],
  [
    '25006',
    'read-only',
    'the server only reads: storage.postgres.url has to name the primary, and default_transaction_read_only has to be off',
  ],
  ['42501', 'unfit', 'the user of storage.postgres.url lacks a privilege'],
  [
    '28000',
    'unfit',
    'the server does not let storage.postgres.url in: its pg_hba.conf may want TLS (sslmode=verify-full), or names no such user, database or machine, or the user may not log in (ALTER ROLE … LOGIN)',
  ],
  ['28', 'unfit', 'the server refuses the user or password of storage.postgres.url'],
  ['3D000', 'unfit', 'the database of storage.postgres.url does not exist: create it'],
  [
    '3F',
    'unfit',
    'the search_path of the user of storage.postgres.url names no schema that is there: ALTER ROLE … RESET search_path',
  ],
  ['57014', 'busy', 'the server did not do it within its time limit'],
  ['55P03', 'busy', 'another process keeps it locked'],
  [
    '25001',
    'unfit',
    'PgBouncer lends a connection for one statement alone: set its pool_mode to transaction, or to session',
  ],
  ['25P0', 'busy', 'the server ended a transaction that waited'],
  ['40', 'busy', 'another process was in the way'],
  [
    '42P01',
    'unfit',
    'its tables are not those of lowwater: restore a backup, unless the user of storage.postgres.url has another search_path now (ALTER ROLE … RESET search_path)',
  ],
  ['42', 'unfit', 'its tables are not those of lowwater: restore a backup'],
  ['XX001', 'corrupt', 'it is damaged: restore a backup'],
  ['XX002', 'corrupt', 'an index of it is damaged: REINDEX'],
  ['57P03', null, 'the server is starting or ending'],
  ['57P', null, 'the server ended the connection'],
  ['08', null, 'the connection broke'],
  ['XX', null, 'the server failed'],
  ['58', null, 'the server failed'],
];

const unreachable: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nobody listens at the address of storage.postgres.url',
  ENOTFOUND: 'the host name of storage.postgres.url is not known',
  EAI_AGAIN: 'the name server does not answer',
  ECONNRESET: 'the connection broke',
  EPIPE: 'the connection broke',
  ETIMEDOUT: 'no answer',
  EHOSTUNREACH: 'there is no way to the host of storage.postgres.url',
  ENETUNREACH: 'there is no way to the host of storage.postgres.url',
};

/**
 * Codes of Node about certificates (https://nodejs.org/api/tls.html#x509-certificate-error-codes), of OpenSSL about TLS alerts of the other
 * side (RFC 8446, 6.2), and texts of `pg` about sign-in and TLS. A certificate not valid yet may wait for the clock of a machine that just booted.
 */
const misfits: readonly (readonly [pattern: RegExp, advice: string, kind?: Kind])[] = [
  [/^CERT_NOT_YET_VALID/, 'its certificate is not valid yet: set the clock of this machine', 'other'],
  [/^CERT_HAS_EXPIRED/, 'its certificate has expired: renew it on the server'],
  [/^ERR_TLS_CERT_ALTNAME/, 'its certificate is for another host than storage.postgres.url names'],
  [
    /^(ERR_TLS|CERT_|DEPTH_|SELF_|UNABLE_|HOSTNAME_)/,
    'its certificate is not trusted: name the authority in storage.postgres.url (sslrootcert=/path/ca.pem)',
  ],
  [
    /^ERR_SSL_.*ALERT_.*(CERTIFICATE|UNKNOWN_CA)/,
    'the server refuses the client certificate of storage.postgres.url (sslcert)',
  ],
  [/^ERR_OSSL_/, 'a certificate file of storage.postgres.url (sslrootcert, sslcert, sslkey) is damaged'],
  [/^SASL/, 'signing in failed: storage.postgres.url lacks the password, or the server is another one'],
  [/leads to another server/, 'the address of storage.postgres.url leads to another server now', 'other'],
  [/does not support SSL/, 'the server speaks no TLS, which the sslmode of storage.postgres.url asks for'],
];

/**
 * How far the work got before the failure: nothing had left this process, a statement that only reads had, or one that writes had.
 * In the last case its end is unknown, unless the server said it.
 */
export type Progress = 'unsent' | 'read' | 'written';

/** A `StorageError` whose message says what to do and names neither address nor user. `url`: nothing of it may be quoted from the server. */
export function asStorageError(error: unknown, progress: Progress, url: string): unknown {
  if (error instanceof StorageError) return error;
  if (error instanceof PollCodecError)
    return storageError('corrupt', 'it is damaged: restore a backup', error);
  const unsure: Kind = progress === 'written' ? 'unknown' : 'other';
  if (error instanceof DatabaseError) return serverError(error, unsure, url);
  if (!(error instanceof Error) || !isConnectionError(error)) return error;
  const code = 'code' in error ? String(error.code) : '';
  const file = unreadableFile(error, code);
  if (file !== null) {
    // With too many open files the next try may succeed.
    const kind = /^E[MN]FILE$/.test(code) ? 'other' : 'unfit';
    return storageError(kind, `${file} of storage.postgres.url cannot be read`, error);
  }
  const misfit = misfits.find(([pattern]) => pattern.test(code || error.message));
  if (misfit !== undefined) return storageError(misfit[2] ?? 'unfit', misfit[1], error);
  return storageError(unsure, unreachable[code] ?? 'the connection broke or no answer came in time', error);
}

/** The certificate file that `pg` could not read. Its path is no secret. For a directory, Node's error names no path. */
function unreadableFile(error: Error, code: string): string | null {
  if (code === 'EISDIR') return 'a directory in place of a file (sslrootcert, sslcert or sslkey)';
  const isOpened = 'syscall' in error && error.syscall === 'open' && 'path' in error;
  return isOpened ? `the file ${String(error.path)} (sslrootcert, sslcert or sslkey)` : null;
}

/** The server's error. `unsure` is the kind for codes that do not say whether the statement was executed. */
function serverError(error: DatabaseError, unsure: Kind, url: string): StorageError {
  const said = ` (${quote(error.code ?? '', error.message, url)})`;
  const code = codeOf(error);
  const known = answers.find(([prefix]) => code.startsWith(prefix));
  if (known !== undefined) return storageError(known[1] ?? unsure, known[2], error, said);
  return storageError(isAboutValues(code) ? 'refused' : 'other', 'it refused', error, said);
}

/** PgBouncer uses the code of a broken connection for errors for which PostgreSQL has codes of its own. */
function codeOf({ code = '', message }: DatabaseError): string {
  if (code !== '08P01') return code;
  if (/^(SASL|password) authentication failed/.test(message)) return '28P01';
  if (message.includes('statement pooling mode')) return '25001';
  return /^no such database|^database .* does not exist$/.test(message) ? '3D000' : code;
}

export function fencedError(): StorageError {
  return new StorageError(
    'fenced',
    'the PostgreSQL database: this daemon does not own the accounts there; nothing was written',
  );
}

/** When no record of a kind can be read, and there are many, the records themselves are not what is damaged. */
export function noneReadable(kind: string): StorageError {
  return new StorageError(
    'corrupt',
    `the PostgreSQL database: none of the stored ${kind} can be read, which looks like a fault of reading; nothing is stored over them`,
  );
}

/** The error to throw when an earlier sending of the same batch may have been stored. */
export function stillUnknown(error: unknown): unknown {
  if (!(error instanceof StorageError) || error.kind === 'fenced') return error;
  return new StorageError('unknown', error.message, { cause: error.cause });
}

function storageError(
  kind: Kind,
  advice: string,
  cause: Error,
  said = 'code' in cause ? ` (${String(cause.code)})` : '',
): StorageError {
  return new StorageError(kind, `the PostgreSQL database: ${advice}${said}`, { cause });
}

/** The server's own words, without the sign-in secrets; only the code where the words could name the user or the address. */
function quote(code: string, words: string, url: string): string {
  if (/^(28|3D|08|57P03)/.test(code)) return code;
  const address = parseAddress(url);
  const texts = createForeignTexts([url, ...(address === null ? [] : passwordsIn(address))]);
  return `${code}: ${texts.clean(words, 500)}`;
}

/** Whether an error is about a record's values: data exceptions, constraints, row limits, an error raised by somebody's trigger. */
function isAboutValues(code: string): boolean {
  return /^(09|0A|2[0-3]|26|27|34|38|39|44|54|P0)/.test(code);
}

/** Whether an error of `pg` or the system is about the connection. For some of them, `pg` has texts but no codes. */
function isConnectionError(error: Error): boolean {
  if ('code' in error) return /^(E[A-Z]|ERR_|CERT_|DEPTH_|SELF_|UNABLE_|HOSTNAME_)/.test(String(error.code));
  return /connection|timeout|terminated|not queryable|SSL|SASL|pool/i.test(error.message);
}
