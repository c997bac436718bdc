import {
  chownSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { listsInFiles } from '../../config/include-files.ts';
import { parseDocument } from '../../config/parse-document.ts';
import { mapTexts } from '../../domain/json.ts';
import { ownOf } from '../../domain/own.ts';
import { CommandError } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { readConfiguration } from '../load-configuration.ts';
import { shellWord } from '../terminal/text.ts';
import { alreadyThere, format } from './new-file.ts';

const deploy = new URL('../../../deploy/', import.meta.url);
/** The folder in which the manifests mount the values of `secrets.env` as files. */
const secretsFolder = '/run/secrets/lowwater/';
const program = new URL('../../../dist/main.js', import.meta.url);

type Context = Pick<CommandContext, 'user' | 'version' | 'env' | 'process'>;

/** Write the files that run lowwater as a service, next to the configuration and never over a file. Each returns what to do next. */
export const services = { systemd: writeUnit, compose: writeCompose, kubernetes: writeManifests };

function besides(configuration: string, name: string): string {
  const path = join(dirname(configuration), name);
  if (existsSync(path)) throw alreadyThere(path);
  return path;
}

/**
 * Writes the program's systemd unit with the paths of this Node, program and configuration. The service runs as the user who wrote the
 * configuration, because only that user can read it. If that is root, it gets a user of its own.
 */
async function writeUnit({ user, process: { hide } }: Context, configuration: string): Promise<string> {
  const unit = besides(configuration, 'lowwater.service');
  const template = new URL('lowwater.service', deploy);
  if (!existsSync(program) || !existsSync(template))
    throw new CommandError(`${fileURLToPath(program)} is not there: the program must be built`);
  const paths = [realpathSync(execPath), realpathSync(program), configuration];
  const odd = paths.find((path) => /[\s%"'\\]/.test(path));
  if (odd !== undefined) throw new CommandError(`${odd}: a unit cannot name a path with spaces, quotes or %`);
  const [node = '', main = ''] = paths;
  const closed = paths.find((path) => user === 'root' && path.startsWith('/root/'));
  if (closed !== undefined)
    throw new CommandError(
      `${closed}: the service runs as a user of its own, who cannot enter /root; put it elsewhere, such as /etc/lowwater or /opt/lowwater`,
    );
  const runsAs = user === 'root' ? 'lowwater' : user;
  const isAtHome = paths.some((path) => /^\/(?:home|root)\//.test(path));
  const text = readFileSync(template, 'utf8')
    .replace(/^# systemd unit\..*\n#\n/, '# Written by lowwater init --service systemd.\n#\n')
    .replace(/^#(?! )\S.*\n/gm, '')
    .replace('/usr/bin/node', node)
    .replace('/opt/lowwater/dist/main.js', main)
    .replace('/opt/lowwater/README.md', join(dirname(main), '../README.md'))
    .replace('--config /etc/lowwater/config.json', `--config ${configuration}`)
    .replace(
      'DynamicUser=yes',
      `User=${runsAs}\nEnvironmentFile=-${join(dirname(configuration), 'lowwater.env')}`,
    )
    .replace('ProtectHome=yes', isAtHome ? 'ProtectHome=read-only' : 'ProtectHome=yes');
  writeFileSync(unit, text, { flag: 'wx' });
  const { command, elsewhere } =
    user === 'root' ? await handOver(configuration, hide) : { command: '', elsewhere: [] };
  const note =
    elsewhere.length === 0 ? '' : `The user lowwater must be able to read ${elsewhere.join(' and ')}.\n`;
  return `${unit} is written. Next, as root: ${command}cp ${unit} /etc/systemd/system/ && systemctl enable --now lowwater\n${note}${variables}${warnOfPath(configuration, '/var/lib/lowwater/')}`;
}

/**
 * The command that makes the service's user and gives it the configuration, its lists, and other files read from that folder, but nothing
 * else there. `elsewhere`: files in other folders that placeholders name; their owner may be another program's user.
 */
async function handOver(configuration: string, hide: Context['process']['hide']) {
  const folder = dirname(configuration);
  const isIn = (path: string, other: string) => `${path}/`.startsWith(`${other}/`);
  const ownable = (path: string) => (isIn(folder, dirname(path)) ? path : dirname(path));
  const lists = patternsOf(readJson(configuration)).map(([, pattern]) => ownable(resolve(folder, pattern)));
  const { sources } = await readConfiguration(configuration, hide);
  const read = sources.map(({ path }) => path).filter((path) => path !== folder);
  const inside = read.filter((path) => isIn(path, folder)).map(ownable);
  const isOpen = (statSync(folder).mode & 0o005) === 0o005;
  const enter = isOpen ? '' : `chgrp lowwater ${folder} && chmod g+rx ${folder} && `;
  const owned = [...new Set([configuration, ...lists, ...inside])];
  // Not quoted, because the shell has to expand the pattern of a list.
  const words = owned.map((path) => (lists.includes(path) ? path : shellWord(path)));
  return {
    command: `useradd --system lowwater && ${enter}chown -R lowwater: ${words.join(' ')} && `,
    elsewhere: read.filter((path) => !owned.some((other) => isIn(path, other))),
  };
}

const variables = 'Variables that the configuration names go into lowwater.env next to it.\n';

/** Warns of a database path that is set. Unit and container may write to one folder only, which holds the database by default. */
function warnOfPath(configuration: string, writable: string): string {
  const { storage } = Object(readJson(configuration));
  const { path } = Object(storage);
  return path === undefined || String(path).startsWith(writable)
    ? ''
    : '"storage.path" is set, where the service may not write: take it out, or allow its folder (ReadWritePaths of the unit, volumes of the container).\n';
}

/** The text as a name that Kubernetes accepts for a secret. */
function safeName(text: string): string {
  return text.replace(/[^\w.-]/g, '-');
}

/** The keys of lists that are in files of their own, and the patterns of those files. */
function patternsOf(config: unknown): (readonly [string, string])[] {
  return listsInFiles.flatMap((key) => {
    const pattern: unknown = Object(ownOf(Object(config), key)).files;
    return typeof pattern === 'string' ? [[key, pattern] as const] : [];
  });
}

/** Runs the container as the owner of the configuration, who alone can read it, on the host's network, so that `server` need not change. */
function writeCompose({ user, version }: Context, configuration: string): string {
  const file = besides(configuration, 'compose.yaml');
  const { uid, gid } = statSync(configuration);
  const data = join(dirname(configuration), 'data');
  const isNew = mkdirSync(data, { recursive: true, mode: 0o700 }) !== undefined;
  if (isNew && user === 'root') chownSync(data, uid, gid);
  const text = `# Written by lowwater init --service compose.
name: lowwater

services:
  lowwater:
    # As you built it: see docs/operation.md, "The image".
    image: lowwater:${version}
    # For the commands, and for the health check of the image, too.
    environment: { LOWWATER_CONFIG: "/etc/lowwater/${basename(configuration)}" }
    restart: unless-stopped
    # Who owns the configuration, and nobody else may read it.
    user: "${uid}:${gid}"
    # The page listens where the configuration says, on this machine alone by default.
    network_mode: host
    read_only: true
    tmpfs: [/tmp]
    cap_drop: [ALL]
    security_opt: ["no-new-privileges:true"]
    # The daemon ends within 10 s of SIGTERM.
    stop_grace_period: 15s
    env_file: [{ path: lowwater.env, required: false }]
    volumes:
      # The folder, so that a changed file is seen.
      - .:/etc/lowwater:ro
      - ./data:/data
`;
  writeFileSync(file, text, { flag: 'wx' });
  return `${file} is written. Next: docker compose -f ${shellWord(file)} up -d\n${variables}${warnOfPath(configuration, '/data/')}`;
}

/** The program's manifests with this configuration in one file and its secrets in `secrets.env`. */
async function writeManifests({ env, process }: Context, configuration: string): Promise<string> {
  const folder = besides(configuration, 'kubernetes');
  const config: Record<string, unknown> = { ...Object(readJson(configuration)) };
  for (const [key, pattern] of patternsOf(config)) {
    const paths = globSync(pattern, { cwd: dirname(configuration) }).toSorted();
    config[key] = paths.flatMap((path) => readJson(resolve(dirname(configuration), path)));
  }
  const { path: _path, ...storage } = { path: '', ...Object(config.storage) };
  // These two keys differ between pods.
  const { node: _node, advertise: _advertise, ...cluster } = Object(config.cluster);
  const secrets = new Map<string, string>();
  /** The files that placeholders name, by their names in `secrets.env`. */
  const files = new Map<string, string>();
  const keep = (name: string, value: string): string => {
    secrets.set(name, /[\r\n]/.test(value) ? '' : value);
    return `\${file:${secretsFolder}${name}}`;
  };
  const { loaded, salvage } = await readConfiguration(configuration, process.hide);
  const written = new Set((loaded.kind === 'loaded' ? loaded : salvage())?.secrets);
  const keepWritten = (key: string, value: string): string => {
    let name = safeName(key);
    for (let number = 2; (secrets.get(name) ?? value) !== value; number++)
      name = safeName(`${key}-${number}`);
    return keep(name, value);
  };
  const named = mapTexts({ ...config, storage, cluster }, (text, key) => {
    const value = text.replaceAll('$${', () => '${');
    if (written.has(value)) return keepWritten(key, value);
    return text.replace(
      /(\$?)\$\{(env|file):([^}:]*)(?::-((?:[^{}]|\{[^{}]*\})*|[^}]*))?\}/g,
      (found, dollar: string, source: string, from: string, otherwise = '') => {
        if (dollar !== '' || from.startsWith(secretsFolder)) return found;
        if (source === 'env') return keep(from, env[from] ?? otherwise);
        const name = safeName(basename(from));
        const isTaken = (files.get(name) ?? from) !== from;
        if (!isTaken) files.set(name, from);
        return keep(isTaken ? safeName(from.replace(/^\W+/, '')) : name, '');
      },
    );
  });
  const { server } = Object(named);
  const { token = '' } = Object(server);
  const hidden = String(token).includes(secretsFolder) ? token : keep('token', token);
  const way = 'postgres' in storage ? 'postgres' : 'sqlite';
  const { cluster: ofPod } = Object(
    readJson(fileURLToPath(new URL(`kubernetes/${way}/config.json`, deploy))),
  );
  const listening = {
    ...Object(named),
    server: { ...server, host: '0.0.0.0', port: 8080, token: hidden },
    cluster: ofPod && { ...Object(named).cluster, ...ofPod },
  };
  for (const name of ['base', way])
    cpSync(new URL(`kubernetes/${name}`, deploy), join(folder, name), {
      recursive: true,
      filter: (path) => !path.endsWith('.example'),
    });
  writeFileSync(join(folder, way, 'config.json'), format(listening));
  const lines = [...secrets].map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(join(folder, way, 'secrets.env'), lines.join(''), { mode: 0o600 });
  const empty = [...secrets].flatMap(([name, value]) => (value === '' ? name : []));
  return `${folder} is written. Next: ${empty.length === 0 ? '' : `give ${empty.join(', ')} in ${way}/secrets.env, `}name your image in base/deployment.yaml, and: kubectl apply -k ${shellWord(join(folder, way))}\n`;
}

function readJson(path: string): unknown {
  const { document, isSound } = parseDocument(readFileSync(path, 'utf8'));
  if (document === null || !isSound) throw new CommandError(`${path} is not JSON`);
  return document.value;
}
