import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { defaultScenario } from '../../src/simulator/scenario.ts';
import { runBuilt } from '../support/built-program.ts';

const folder = join(import.meta.dirname, '../../deploy');

describe.each([
  ['compose.yaml', 'compose-config.json', {}],
  [
    'cluster-compose.yaml',
    'cluster-config.json',
    { LOWWATER_NODE: 'north', LOWWATER_ADDRESS: 'http://north:8080' },
  ],
])('the compose file %s', (file, configuration, own) => {
  const compose = readFileSync(join(folder, file), 'utf8');

  /** What compose hands to lowwater where the shell says nothing: the defaults in `${NAME:-default}`, and what `${NAME:?…}` asks for. */
  const environment = {
    ...Object.fromEntries(
      [...compose.matchAll(/^ +([A-Z_]+): \$\{\1:[-?]([^}]+)\}$/gm)].map(([, name, value]) => [name, value]),
    ),
    ...own,
  } as Readonly<Record<string, string>>;

  it('mounts only what is there', () => {
    const sources = [...compose.matchAll(/- (\.[^:]*):/g)].map(([, source]) => source ?? '');
    expect(sources).toContain(`./${configuration}`);
    for (const source of sources) expect(existsSync(join(folder, source)), source).toBe(true);
    expect(existsSync(join(folder, '../Dockerfile'))).toBe(true);
  });

  it('names every image with a version, but for the one that it builds', () => {
    const images = [...compose.matchAll(/image: (\S+)/g)].map(([, image]) => image);
    expect(images.filter((image) => image !== 'lowwater')).toSatisfy((others: string[]) =>
      others.every((image) => /:v?\d+(?:\.\d+)+$/.test(image)),
    );
  });

  it('gives the configuration what it asks for, and only names services that exist', async () => {
    const path = join(folder, configuration);
    const { code, stderr } = await runBuilt(['validate', '--config', path], { env: environment });
    expect({ code, errors: stderr.split('\n').filter((line) => line.startsWith('error')) }).toEqual({
      code: 0,
      errors: [],
    });
    const services = [...compose.matchAll(/^ {2}([a-z]+):$/gm)].map(([, name]) => name);
    const hosts = [...readFileSync(path, 'utf8').matchAll(/"(?:http|smtp):\/\/([a-z]+):\d+"/g)].map(
      ([, host]) => host,
    );
    expect(hosts.length).toBeGreaterThan(1);
    for (const host of hosts) expect(services).toContain(host);
  });

  it('gives keys that the simulator accepts', () => {
    const accepted = defaultScenario.accounts.map(({ authSecret }) => authSecret);
    const given = Object.entries(environment).filter(([name]) => name.endsWith('_AUTH_SECRET'));
    expect(given.length).toBeGreaterThan(1);
    for (const [, secret] of given) expect(accepted).toContain(secret);
  });
});
