import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { parse } from 'jsonc-parser';
import { keyOf, parseJson } from '../domain/json.ts';
import { ownOf } from '../domain/own.ts';
import { severities } from '../domain/severity.ts';

/** A person waits at each press of the key. */
const patienceMs = 300;

/** The part of the API that holds the values, and where each stands in it. */
const asked: Readonly<Record<string, readonly [path: string, list: string, key: string]>> = {
  alerts: ['/api/v1/alerts', 'alerts', 'rule'],
  silences: ['/api/v1/silences', 'silences', 'id'],
  expected: ['/api/v1/expected-top-ups', 'expected', 'id'],
};

/**
 * Values of the configuration's file, errors in it or not, or of the running daemon. `kinds` are those of the arguments that a line takes,
 * its commands included, with commas between; `taking` are the options that a word follows, with `|` between; then come the words
 * before the one that is typed. Exit code 1 where none is asked for there.
 */
export async function completeValues(
  [, kinds = '', taking = '', ...words]: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<void> {
  // Bash makes three words of `--by=ada`.
  const options = [...taking.split('|'), '='];
  const given = words.filter((word, at) => !word.startsWith('-') && !options.includes(words[at - 1] ?? ''));
  const kind = kinds.split(',')[given.length] ?? '';
  if (kind === '') {
    process.exitCode = 1;
    return;
  }
  const named = words.includes('--config') ? words[words.indexOf('--config') + 1] : undefined;
  const config = readFile({ ...env, ...(named === undefined ? {} : { LOWWATER_CONFIG: named }) });
  // An alert stands behind its account.
  const account = given.at(-1);
  const found = Object.hasOwn(asked, kind) ? await askDaemon(kind, account, config, env) : null;
  // Without a daemon any rule may be meant.
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
      // The next place, or nothing to offer.
    }
  }
  return null;
}

/** The ids of a list, the keys of channels. Nothing is known of accounts in files of their own. */
function listNames(kind: string, section: unknown): readonly string[] {
  const names = kind === 'channels' ? Object.keys(Object(section)) : [];
  const ids = Array.isArray(section) ? section.map((item: unknown) => keyOf(item, 'id')) : names;
  return ids.filter((id) => typeof id === 'string').filter((id) => /^[a-z0-9-]+$/.test(id));
}

/** Null where no daemon answers in time. */
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

/** A token as the file says it; empty where its variable is not set here. */
function fill(token: string, env: NodeJS.ProcessEnv): string {
  return token.replace(
    /\$\{env:(\w+)(?::-((?:[^{}]|\{[^{}]*\})*|[^}]*))?\}/g,
    (_, name: string, otherwise = '') => ownOf(env, name) || otherwise,
  );
}

/** Without `fetch`, which takes Node 40 ms to load. */
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
