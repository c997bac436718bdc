import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { fingerprintOf } from '../../config/sources.ts';
import { keyOf } from '../../domain/json.ts';
import { Secret } from '../../domain/secret.ts';
import type { StorageSettings } from '../../domain/settings.ts';
import type { DescribedDaemon } from '../../http/api/daemon.ts';
import { type DaemonNote, readDaemonNote } from '../../store/sqlite/daemon-note.ts';
import { CommandError, type CommandInput, UsageError } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { findDatabase, isLost, type OperatorConfiguration } from '../load-configuration.ts';
import { programOf } from '../open-reader.ts';
import { addressOf, askDaemon, type DaemonAddress, reachable } from './daemon-connection.ts';

/** A daemon that answers and lets this command in, with its description of itself. */
export type OpenDaemon = DaemonAddress & { readonly facts: DescribedDaemon; readonly refusal: null };

/** A daemon that answers. `refusal`: why it does not let this command in; null if it does, but is an older version. */
export type FoundDaemon =
  | OpenDaemon
  | (DaemonAddress & { readonly facts: null; readonly refusal: string | null });

/** The address from `--server` or `LOWWATER_SERVER`; null if neither is set. `--config` wins over the variable. */
export function namedServer(
  { env }: Pick<CommandContext, 'env'>,
  input: Pick<CommandInput, 'option'>,
): DaemonAddress | null {
  const option = input.option('server');
  const text = option ?? (input.option('config') === null ? env.LOWWATER_SERVER || null : null);
  if (text === null) return null;
  const url = URL.parse(text);
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && `${url.username}${url.password}` === '';
  if (!isPlain)
    throw new UsageError(
      `${option === null ? 'LOWWATER_SERVER' : '--server'} must be an address such as http://127.0.0.1:8080`,
      'its token goes into LOWWATER_TOKEN',
    );
  return { url: url.origin, token: tokenOf(env) };
}

function tokenOf({ LOWWATER_TOKEN: token }: CommandContext['env']): Secret | null {
  return token ? new Secret(token) : null;
}

/** The daemon at an address that somebody named. Throws `CommandError` if none answers, or if it refuses. */
export async function requireDaemon(address: DaemonAddress): Promise<OpenDaemon> {
  const daemon = await introduce(address);
  if (daemon.facts !== null) return daemon;
  throw new CommandError(`the daemon at ${address.url} refuses (${daemon.refusal ?? 'older version'})`);
}

/** Why this command cannot read the daemon's views, in words; null if it can. Their versions may differ only in the last number. */
export function differenceOf(
  daemon: { readonly version: string },
  own: { readonly version: string },
): string | null {
  const [theirs, ours] = [daemon, own].map(({ version }) => version.split('.').slice(0, 2).join('.'));
  return theirs === ours
    ? null
    : `the daemon runs lowwater ${daemon.version}, this command is ${own.version}`;
}

/**
 * The running daemon that uses the file as it is now. The daemon has checked the whole file, which takes most of a command's time, so
 * the command only reads from the file how to reach it. Null if there is none, or if this command cannot read all of the file; `deaf` gets
 * the address of a daemon that does not answer.
 */
export async function findByNote(
  context: Pick<CommandContext, 'env'> & Complaining,
  file: string,
  deaf: Set<string> = new Set(),
): Promise<OpenDaemon | null> {
  const { databaseFile, readDraft } = await import('../../config/read-draft.ts');
  const reading = { path: file, env: context.env };
  const { gathered, sources } = await readDraft(reading);
  const { draft, isSound, problems } = gathered;
  if (draft === null || !isSound || problems.length > 0) return null;
  const { storage, server } = Object(draft.value);
  if (storage?.path !== undefined && typeof storage.path !== 'string') return null;
  const note = readDaemonNote(findDatabase(context, file, databaseFile(storage?.path, reading)).found);
  if (note?.address == null || note.checked !== fingerprintOf(sources)) return null;
  const url = reachable(note.address);
  const answer = await knock(context, url);
  if (answer === null) deaf.add(url);
  if (answer?.database !== note.database) return null;
  const token = server?.token ? new Secret(server.token) : tokenOf(context.env);
  const daemon = await introduce({ url, token });
  return daemon.facts === null ? null : daemon;
}

/**
 * The running daemon of a configuration, at the address in the note next to its database, else at the file's address. Null
 * if none answers; addresses in `deaf` are skipped. Throws `CommandError` if a daemon with another database answers, because it is not this file's.
 */
export async function findDaemon(
  context: CommandContext,
  configuration: OperatorConfiguration,
  deaf: ReadonlySet<string> = new Set(),
): Promise<FoundDaemon | null> {
  const { path } = configuration.settings.storage;
  const note = path === undefined ? null : readDaemonNote(path);
  const token = writtenToken(configuration) ?? tokenOf(context.env);
  const strangers: string[] = [];
  for (const url of listAddresses(note, configuration)) {
    if (deaf.has(url)) continue;
    const answer = await knock(context, url);
    if (answer === null) continue;
    const { database } = answer;
    const difference = await compare(context, configuration, { url, database, note });
    if (difference !== null) strangers.push(difference);
    else {
      const found = await orWarn(context, () => introduce({ url, token }));
      if (found !== null) return found;
    }
  }
  if (strangers[0] === undefined) return null;
  throw new CommandError(strangers[0]);
}

function writtenToken({ settings, lost }: OperatorConfiguration): Secret | null {
  return lost.has('server.token') ? null : (settings.server?.token ?? null);
}

function listAddresses(
  note: Pick<DaemonNote, 'address'> | null,
  configuration: OperatorConfiguration,
): Set<string> {
  const isUnknown = isLost(configuration, 'server', ['host', 'port']);
  const written = isUnknown ? null : addressOf(configuration.settings.server);
  const left = note?.address == null ? null : reachable(note.address);
  return new Set([left, written].filter((address) => address !== null));
}

/** Why a daemon is not the configuration's, in words; null if it is. Also null if that is unknown, which is noted on standard error. */
async function compare(
  context: CommandContext,
  configuration: OperatorConfiguration,
  { url, database, note }: { readonly url: string; readonly note: Partial<DaemonNote> | null } & Named,
): Promise<string | null> {
  // A daemon of 0.2 sends no id. A note with the same id was left by the daemon of this very file.
  if (database === null || database === note?.database) return null;
  const why = 'neither the configuration nor LOWWATER_DATA says where it is';
  const isUnsaid = isLost(configuration, 'storage', ['path', 'postgres']);
  const { storage } = configuration.settings;
  const found = isUnsaid ? null : await identifyDatabase(storage, programOf(context), url);
  const isGuessed = found?.kind === 'none' && configuration.isDatabaseGuessed;
  const own = found === null || isGuessed ? ({ kind: 'unknown', why } as const) : found;
  if (own.kind === 'known' && own.id === database) return null;
  if (own.kind === 'unknown') {
    await context.stderr.write(
      `note: the daemon at ${url} has the database ${database}; whether that is the configuration's is not known: ${own.why}\n`,
    );
    return null;
  }
  const named = own.kind === 'known' ? `${own.id}, ${own.place}` : own.why;
  return `the daemon at ${url} has another database (${database}) than this configuration (${named}): nothing was asked of it`;
}

type DatabaseIdentity =
  | { readonly kind: 'known'; readonly id: string; readonly place: string }
  /** `none`: it has no id, so no daemon of this version has opened it. */
  | { readonly kind: 'none' | 'unknown'; readonly why: string };

/**
 * A file that does not exist, or that no daemon of this version has opened, cannot be the database of the daemon that answers at `url`,
 * unless that daemon says that it lost the file.
 */
async function identifyDatabase(
  storage: StorageSettings,
  program: string,
  url: string,
): Promise<DatabaseIdentity> {
  const { readIdOf } = await import('../../store/store.ts');
  const place = storage.path ?? 'the PostgreSQL database';
  const id = await readIdOf(storage, program);
  if (id !== null) return { kind: 'known', id, place };
  if (storage.path === undefined) return { kind: 'unknown', why: 'it does not answer' };
  try {
    accessSync(dirname(place), constants.R_OK | constants.X_OK);
    if (!existsSync(place))
      return { kind: (await complainsOf(place, url)) ? 'unknown' : 'none', why: `${place} does not exist` };
    accessSync(place, constants.R_OK);
  } catch {
    return { kind: 'unknown', why: `${place} cannot be read` };
  }
  return { kind: 'none', why: `no daemon of this version has opened ${place}` };
}

/** Whether the daemon at `url` names a file among its problems. */
async function complainsOf(place: string, url: string): Promise<boolean> {
  const answer = await askDaemon({ url, token: null }, { method: 'GET', path: '/readyz' });
  const problems = answer.kind === 'answered' ? keyOf(answer.body, 'problems') : null;
  return Array.isArray(problems) && problems.some((problem) => String(problem).includes(place));
}

/** Checks whether a daemon answers, and with which database. */
async function knock(context: Complaining, url: string): Promise<Named | null> {
  const answer = await orWarn(context, () =>
    askDaemon({ url, token: null }, { method: 'GET', path: '/livez' }),
  );
  return answer?.kind === 'absent' ? null : answer;
}

/** `database`: the id of the daemon's database. */
interface Named {
  readonly database: string | null;
}

interface Complaining {
  readonly stderr: Pick<CommandContext['stderr'], 'write'>;
}

/** Warns on standard error of a server that does not answer as a daemon does. */
async function orWarn<T>({ stderr }: Complaining, ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    await stderr.write(`warning: ${error.message}\n`);
    return null;
  }
}

/** Gets a daemon's description. One of an older version has none, but takes orders. The token is sent only to a lowwater that asks for it. */
async function introduce({ url, token }: DaemonAddress): Promise<FoundDaemon> {
  const question = { method: 'GET', path: '/api/v1/daemon' } as const;
  const open = await askDaemon({ url, token: null }, question);
  const asksForToken = open.kind === 'refused' && open.status === 401;
  const stranger = `what answers at ${url} is not lowwater`;
  if (asksForToken && !open.isLowwater) throw new CommandError(stranger);
  const address = { url, token: asksForToken ? token : null };
  const answer = address.token === null ? open : await askDaemon(address, question);
  if (answer.kind === 'absent') throw new CommandError(`no daemon answers at ${address.url}`);
  if (answer.kind === 'answered') {
    const isDescribed = typeof keyOf(answer.body, 'version') === 'string';
    if (!isDescribed || !Array.isArray(keyOf(answer.body, 'accounts'))) throw new CommandError(stranger);
    return { ...address, facts: answer.body as DescribedDaemon, refusal: null };
  }
  const refusal = answer.status === 401 ? 'LOWWATER_TOKEN must be its server.token' : answer.message;
  return { ...address, facts: null, refusal: answer.status === 404 ? null : refusal };
}
