import { channelKinds } from '../../channels/registry.ts';
import { isLoopbackHost, isUnencrypted } from '../../domain/addresses.ts';
import { isObject } from '../../domain/json.ts';
import { defaultEntry } from '../../domain/provider-entry.ts';
import { parseDuration } from '../../domain/time.ts';
import { ownAccountKeys } from '../../providers/registry.ts';
import { kindOfRuleNamed } from '../../rules/registry.ts';
import { entryPosition, entryPositions, type Position } from '../draft.ts';

/** Ids must be unique, and there must be a channel to send messages to. */
export function checkNames(file: Position): void {
  reportRepeated(file.at('accounts'), 'account');
  reportRepeated(file.at('rules'), 'rule');
  reportRepeated(file.at('reports'), 'report');
  const channels = file.at('channels');
  if (isObject(channels.value) && channels.keys().length === 0)
    channels.report('must hold at least one channel');
}

function reportRepeated(list: Position, what: string): void {
  const first = new Map<string, Position>();
  for (const item of list.items()) {
    const id = item.at('id');
    if (id.text === null) continue;
    const other = first.get(id.text);
    if (other === undefined) {
      first.set(id.text, id);
      continue;
    }
    const { file, line } = other.draft.placeOf(other.path);
    const where = file === undefined ? `in line ${line}` : `in line ${line} of ${file}`;
    id.report(`another ${what} has this id already, ${where}`);
  }
}

/** Checks the keys of each rule against each other, as its kind demands. */
export function checkRules(file: Position): void {
  for (const rule of file.at('rules').items()) {
    const problems = kindOfRuleNamed(rule.at('type').text)?.check?.({
      valueAt: (path) => rule.at(...path).value,
      isBroken: (path) => rule.at(...path).isBroken,
    });
    for (const { path, message } of problems ?? []) rule.at(...path).report(message);
  }
}

/** Checks the keys of each channel against each other, and against the accounts, as its kind demands. */
export function checkChannels(file: Position): void {
  const credentials = credentialsOf(file);
  for (const { position: channel } of file.at('channels').entries()) {
    const kind = channelKinds.find(({ type }) => type === channel.at('type').text);
    const read = (key: string): unknown => (channel.at(key).isBroken ? undefined : channel.at(key).value);
    for (const { key, message } of kind?.check?.({ read, credentials }) ?? [])
      channel.at(key).report(message);
  }
}

/** The ids that are used to ask for the balances of the accounts. */
function credentialsOf(file: Position): ReadonlySet<string> {
  const all = file
    .at('accounts')
    .items()
    .flatMap((account) => [
      ...Object.values<unknown>(Object(account.at('credentials').value)),
      ...ownAccountKeys.map(({ credential }) => account.at(credential).value),
    ]);
  return new Set(all.filter((value) => typeof value === 'string').filter((value) => value !== ''));
}

/** A rule must not look back further than history is kept, because it would never have enough of it. Everything is in one database. */
export function checkLimits(file: Position): void {
  const kept = file.at('storage', 'retention');
  const retention = parseDuration(kept.value === undefined ? '400d' : (kept.text ?? ''));
  for (const rule of file.at('rules').items())
    for (const key of ['window', 'lookback']) {
      const length = parseDuration(rule.at(key).text ?? '');
      if (retention !== null && length !== null && length > retention)
        rule.at(key).report('must not be longer than storage.retention: older history is deleted');
    }
  const isShared = file.at('storage').has('postgres');
  if (isShared && file.at('storage').has('path'))
    file.at('storage', 'path').report('either storage.path or storage.postgres, not both');
  if (!isShared && file.has('cluster'))
    file
      .at('cluster')
      .report('needs storage.postgres.url: a SQLite file has one daemon, which no other takes over from');
}

/** Secrets must not travel unencrypted, and the page must not be open to everybody, unless the file says so. */
export function checkAddresses(file: Position): void {
  for (const { position } of entryPositions(file))
    checkEncrypted(position.at('baseUrl'), position.at('allowInsecureHttp'));
  for (const account of file.at('accounts').items('baseUrl')) {
    const entry = entryPosition(file, account.at('provider').text ?? defaultEntry);
    checkEncrypted(account.at('baseUrl'), entry.at('allowInsecureHttp'));
  }
  checkViewer(file.at('server'));
  checkListening(file.at('server'));
}

function checkEncrypted(address: Position, allowed: Position): void {
  if (address.text === null || allowed.value === true || allowed.isBroken) return;
  if (isUnencrypted(address.text)) address.report(demandEncryption(allowed));
}

/** `allowed` is the key by which a file permits clear text. */
export function demandEncryption(allowed: Position): string {
  return `http:// would send the secret unencrypted to another machine: use https://, or set ${allowed.path.join('.')} to true`;
}

function checkViewer(server: Position): void {
  const [token, viewer] = [server.at('token'), server.at('viewerToken')];
  if ((viewer.text ?? '') === '' || token.isBroken) return;
  if ((token.text ?? '') === '')
    viewer.report('is only of use with server.token: without one everybody may change things');
  else if (token.text === viewer.text) viewer.report('must differ from server.token');
}

function checkListening(server: Position): void {
  const [host, token, allowed] = [server.at('host'), server.at('token'), server.at('allowUnauthenticated')];
  const isProtected =
    token.isBroken || (token.text ?? '') !== '' || allowed.value === true || allowed.isBroken;
  if (host.text !== null && !isLoopbackHost(host.text) && !isProtected)
    host.report(
      'other machines could use page and API without a token: set server.token, or listen on 127.0.0.1, or set server.allowUnauthenticated to true',
    );
}
