import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { parse } from 'jsonc-parser';
import { keyOf, parseJson } from '../domain/json.ts';
import { ownOf } from '../domain/own.ts';
import { severities } from '../domain/severity.ts';

/** The longest wait for the daemon: a person waits at each press of the key. */
const patienceMs = 300;

/** The API path with the values of each kind, the name of its list, and the key of the value in an item. */
const asked: Readonly<Record<string, readonly [path: string, list: string, key: string]>> = {
  alerts: ['/api/v1/alerts', 'alerts', 'rule'],
  silences: ['/api/v1/silences', 'silences', 'id'],
  expected: ['/api/v1/expected-top-ups', 'expected', 'id'],
};

/**
 * Completes values from the configuration file, even one with errors, or from the running daemon. `kinds`: the kinds of a line's words and
 * arguments, separated by commas. `taking`: the options that take a value, separated by `|`. Then come the words
 * before the one that is typed. Exit code 1 if no value of a known kind belongs there.
 */
export async function completeValues(
  [, kinds = '', taking = '', ...words]: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<void> {
  // Bash splits `--by=ada` into three words.
  const options = [...taking.split('|'), '='];
  const given = words.filter((word, at) => !word.startsWith('-') && !options.includes(words[at - 1] ?? ''));
  const kind = kinds.split(',')[given.length] ?? '';
  if (kind === '') {
    process.exitCode = 1;
    return;
  }
  const named = words.includes('--config') ? words[words.indexOf('--config') + 1] : undefined;
  const config = readFile({ ...env, ...(named === undefined ? {} : { LOWWATER_CONFIG: named }) });
  // The rule of an alert is typed after its account.
  const account = given.at(-1);
  const found = Object.hasOwn(asked, kind) ? await askDaemon(kind, account, config, env) : null;
  // Without a daemon, any configured rule is offered.
  const section = kind === 'alerts' ? 'rules' : kind;
  const names = found ?? (kind === 'severities' ? severities : listNames(section, keyOf(config, section)));
  process.stdout.write(names.map((name) => `${name}\n`).join(''));
}

function readFile(env: NodeJS.ProcessEnv): unknown {
  const places = env.LOWWATER_CONFIG ? [env.LOWWATER_CONFIG] : ['config.json', '/etc/lowwater/config.json'];
  for (const place of places) {
    try {
      return parse(readFileSync(resolve(place), 'utf8'));
    } catch {
      // Tries the next place; if there is none, nothing is offered.
    }
  }
  return null;
}

/** The ids of a list, or the names of channels. Accounts in files of their own are not known here. */
function listNames(kind: string, section: unknown): readonly string[] {
  const names = kind === 'channels' ? Object.keys(Object(section)) : [];
  const ids = Array.isArray(section) ? section.map((item: unknown) => keyOf(item, 'id')) : names;
  return ids.filter((id) => typeof id === 'string').filter((id) => /^[a-z0-9-]+$/.test(id));
}

/** Null if no daemon answers in time. */
async function askDaemon(
  kind: string,
  account: string | undefined,
  config: unknown,
  env: NodeJS.ProcessEnv,
): Promise<readonly string[] | null> {
  const [path, list, key] = asked[kind] ?? ['', '', ''];
  const [port = 8080, token] = ['port', 'token'].map((name) => keyOf(keyOf(config, 'server'), name));
  const server = env.LOWWATER_SERVER || `http://127.0.0.1:${String(port)}`;
  const bearer = (typeof token === 'string' && fill(token, env)) || env.LOWWATER_TOKEN;
  try {
    const items: unknown = keyOf(parseJson(await fetchText(new URL(path, server), bearer)), list);
    if (!Array.isArray(items)) return null;
    const own = items.filter(
      (item: unknown) => account === undefined || kind !== 'alerts' || keyOf(item, 'account') === account,
    );
    const values = own.map((item: unknown) => keyOf(item, key));
    return values.filter((value) => typeof value === 'string').filter((value) => /^[\w@.:-]+$/.test(value));
  } catch {
    return null;
  }
}

/** A token with its variable filled in; empty if that variable is not set here. */
function fill(token: string, env: NodeJS.ProcessEnv): string {
  return token.replace(
    /\$\{env:(\w+)(?::-((?:[^{}]|\{[^{}]*\})*|[^}]*))?\}/g,
    (_, name: string, otherwise = '') => ownOf(env, name) || otherwise,
  );
}

/** Does not use `fetch`, which takes Node 40 ms to load. */
async function fetchText(url: URL, token: string | undefined): Promise<string> {
  const { request } = await import(url.protocol === 'https:' ? 'node:https' : 'node:http');
  return new Promise((done, fail) => {
    const headers = { accept: 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) };
    const asking = request(url, { headers, timeout: patienceMs }, (response: IncomingMessage) =>
      text(response).then(done, fail),
    );
    asking.on('timeout', () => asking.destroy(new Error('too slow')));
    asking.on('error', fail).end();
  });
}
