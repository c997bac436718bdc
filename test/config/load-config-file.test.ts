import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LoadedConfig } from '../../src/config/load-config.ts';
import { loadConfigFile } from '../../src/config/load-config.ts';
import { cronCalendar } from '../../src/system/calendar.ts';
import { now, placeholder, sampleSecrets } from './sample.ts';

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lowwater-config-'));
  path = join(folder, 'config.json');
});

afterEach(() => rmSync(folder, { recursive: true }));

function read(file = path) {
  return loadConfigFile({ path: file, env: sampleSecrets, calendar: cronCalendar, now });
}

function messagesOf(loaded: LoadedConfig): readonly string[] {
  return loaded.kind === 'loaded' ? [] : loaded.problems.map(({ message }) => message);
}

function configure(accounts: unknown, others: object = {}): void {
  const config = {
    provider: { baseUrl: 'https://api.example.com/' },
    accounts,
    channels: { ops: { type: 'webhook', url: 'https://example.com/hook' } },
    ...others,
  };
  writeFileSync(path, JSON.stringify(config, null, 2));
}

const account = (id: string) => ({ id, authSecret: `key-of-${id}` });

describe('the file on the disk', () => {
  it('is read with a byte order mark and Windows line ends', async () => {
    configure([account('otp')]);
    const text = JSON.stringify({
      provider: { baseUrl: 'https://api.example.com/' },
      accounts: [account('otp')],
      channels: { ops: { type: 'webhook', url: 'https://example.com/hook' } },
    });
    writeFileSync(path, `\uFEFF${text.replaceAll(',', ',\r\n')}`);
    expect((await read()).loaded.kind).toBe('loaded');
  });

  it.each<[string, () => unknown, RegExp]>([
    ['missing', () => undefined, /cannot be read: no such file$/],
    ['no text', () => writeFileSync(path, Buffer.from([0x7b, 0xff, 0x7d])), /it is not UTF-8 text$/],
    ['a folder', () => mkdirSync(path), /it is a directory$/],
    ['a FIFO that nobody writes to', () => execFileSync('mkfifo', [path]), /it is no regular file/],
    [
      'larger than 16 MB',
      () => {
        writeFileSync(path, '{}');
        truncateSync(path, 16 * 1024 * 1024 + 1);
      },
      /it is larger than 16 MB$/,
    ],
  ])('is refused at once where it is %s', async (_, make, reason) => {
    make();
    const { loaded } = await read();
    expect(loaded).toMatchObject({ kind: 'invalid', problems: [{ path: '', line: null }] });
    expect(messagesOf(loaded)).toEqual([expect.stringMatching(reason)]);
  });

  it('is refused at once where it is a device that never ends', async () => {
    expect(messagesOf((await read('/dev/zero')).loaded)).toEqual([
      expect.stringMatching(/it is no regular file/),
    ]);
  });

  it.each<[string, (secret: string) => unknown, RegExp]>([
    ['a FIFO', (secret) => execFileSync('mkfifo', [secret]), /it is no regular file/],
    ['larger than 1 MB', (secret) => writeFileSync(secret, 'x'.repeat(1_048_577)), /larger than 1 MB$/],
  ])('is refused at once where a placeholder names %s', async (_, make, reason) => {
    make(join(folder, 'secret'));
    configure([{ id: 'otp', authSecret: placeholder('file:secret') }]);
    expect(messagesOf((await read()).loaded)).toEqual([expect.stringMatching(reason)]);
  });

  it('is watched with all that it names, valid or not', async () => {
    configure([{ id: 'otp', authSecret: placeholder('file:secret') }]);
    const { loaded, sources } = await read();
    expect(loaded.kind).toBe('invalid');
    const looked = async () => Promise.all(sources.map((source) => source.look()));
    expect(await looked()).toEqual(sources.map(({ held }) => held));
    writeFileSync(join(folder, 'secret'), 'a-key');
    expect(await looked()).not.toEqual(sources.map(({ held }) => held));
    expect((await read()).loaded).toMatchObject({
      kind: 'loaded',
      secrets: expect.arrayContaining(['a-key']),
    });
  });
});

describe('rules, routes and silences in files of their own', () => {
  const lists = {
    rules: [{ id: 'low', type: 'below', threshold: 5 }],
    routes: [{ match: { rule: 'low' }, channels: ['ops'] }],
    silences: [{ match: { account: 'otp' }, cron: '0 2 * * 0', duration: '2h' }],
  };
  beforeEach(() => {
    const names = Object.keys(lists);
    const others = Object.fromEntries(names.map((name) => [name, { files: `${name}.d/*.json` }]));
    configure([account('otp')], others);
    for (const [name, list] of Object.entries(lists)) {
      mkdirSync(join(folder, `${name}.d`));
      writeFileSync(join(folder, `${name}.d`, 'b.json'), JSON.stringify(list));
    }
  });
  const add = (place: string, text: string) => writeFileSync(join(folder, place), text);

  it('are read in the order of the names of the files', async () => {
    add('routes.d/a.json', '[{ "match": { "severity": "critical" }, "channels": ["ops"] }]');
    const { loaded, sources } = await read();
    if (loaded.kind === 'invalid') throw new Error(JSON.stringify(loaded.problems));
    const { rules, routes, silences } = loaded.settings;
    expect(rules[0]).toMatchObject({ id: 'low', written: { threshold: 5 } });
    expect(routes.map(({ match }) => match)).toEqual([{ severity: ['critical'] }, { rule: ['low'] }]);
    expect(silences).toHaveLength(1);
    expect(sources.map(({ path: at }) => at)).toContain(join(folder, 'rules.d'));
  });

  it('tell what is wrong with the file, the path in it and its line', async () => {
    add('rules.d/c.json', '[\n{ "id": "low", "type": "below", "threshold": "much" }]');
    add('routes.d/c.json', '[\n\n{ "channels": ["opps"] }]');
    add('silences.d/c.json', '{}');
    const { loaded } = await read();
    const problems = loaded.kind === 'invalid' ? loaded.problems : [];
    expect(problems.map(({ file, path: at, line }) => [file?.slice(folder.length), at, line])).toEqual(
      expect.arrayContaining([
        ['/rules.d/c.json', '[0].threshold', 2],
        ['/rules.d/c.json', '[0].id', 2],
        ['/routes.d/c.json', '[0].channels[0]', 3],
        ['/silences.d/c.json', '', 1],
      ]),
    );
    expect(messagesOf(loaded)).toContain('must be a list of silences');
  });
});

describe('accounts in files of their own', () => {
  beforeEach(() => {
    mkdirSync(join(folder, 'accounts.d'));
    configure({ files: 'accounts.d/*.json' });
  });

  const write = (name: string, text: unknown) =>
    writeFileSync(join(folder, 'accounts.d', name), typeof text === 'string' ? text : JSON.stringify(text));

  it('are read in the order of the names of the files, comments and placeholders too', async () => {
    write('b.json', [account('third')]);
    write(
      'a.json',
      `[ // two\n ${JSON.stringify(account('first'))},
      { "id": "second", "authSecret": "${placeholder('env:OTP_AUTH_SECRET')}" }, ]`,
    );
    write('.hidden.json', 'not json');
    write('note.txt', 'not json');
    const { loaded } = await read();
    if (loaded.kind === 'invalid') throw new Error(JSON.stringify(loaded.problems));
    expect(
      loaded.settings.accounts.map(({ id, credentials }) => [id, credentials.authSecret?.reveal()]),
    ).toEqual([
      ['first', 'key-of-first'],
      ['second', sampleSecrets.OTP_AUTH_SECRET],
      ['third', 'key-of-third'],
    ]);
  });

  it('tell what is wrong with the file, the path in it and its line', async () => {
    write('a.json', `[\n${JSON.stringify(account('otp'))},\n{ "id": "OTP!", "authSecret": "hunter" }]`);
    write('b.json', [account('otp')]);
    write('c.json', '{}');
    write('d.json', '[ 1 2 ]');
    const { loaded } = await read();
    const places =
      loaded.kind === 'loaded'
        ? []
        : loaded.problems.map(({ file, path: at, line, message }) => [
            file?.slice(folder.length),
            at,
            line,
            message,
          ]);
    expect(places).toEqual(
      expect.arrayContaining([
        ['/accounts.d/a.json', '[1].id', 3, expect.stringContaining('lower')],
        [
          '/accounts.d/b.json',
          '[0].id',
          1,
          `another account has this id already, in line 2 of ${folder}/accounts.d/a.json`,
        ],
        ['/accounts.d/c.json', '', 1, 'must be a list of accounts'],
        ['/accounts.d/d.json', '', 1, expect.stringContaining('a comma is missing')],
      ]),
    );
  });

  it.each([
    ['accounts.d/*.json', 'names no file that is there'],
    ['nowhere/*.json', 'cannot be read: no such file'],
    ['*/otp.json', 'cannot be read: only the name of the file may hold a *'],
  ])('refuse the pattern %s, and say that once', async (files, message) => {
    configure({ files });
    const { loaded } = await read();
    expect(loaded).toMatchObject({ problems: [{ path: 'accounts.files', line: 6 }] });
    expect(messagesOf(loaded)[0]).toBe(message);
  });

  it('that hold no account at all are refused with a reason', async () => {
    write('a.json', []);
    write('b.json', []);
    const { loaded } = await read();
    expect(loaded).toMatchObject({ problems: [{ path: 'accounts' }] });
    expect(messagesOf(loaded)[0]).toContain('must be a list with at least one account');
  });

  it('are noticed when a file comes', async () => {
    write('a.json', [account('otp')]);
    const { sources } = await read();
    const held = sources.map((source) => source.held);
    write('b.json', [account('marketing')]);
    expect(await Promise.all(sources.map((source) => source.look()))).not.toEqual(held);
  });
});
