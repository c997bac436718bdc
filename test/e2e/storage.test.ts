import {
  copyFileSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { beforeAll, describe, expect, it } from 'vitest';
import { accountOf, alertsOf, incidentsOf, notificationsOf } from '../support/api-answers.ts';
import { runBuilt } from '../support/built-program.ts';
import { runCli } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { type Bed, withBed } from '../support/run-daemon.ts';
import { mountSmallDisk } from '../support/small-disk.ts';

/** The database of a daemon that read once and ended. */
let sound: Buffer;

beforeAll(() =>
  withBed({}, async (bed) => {
    const daemon = await bed.start();
    await eventually('a reading', async () => (await accountOf(daemon)).outcome === 'ok');
    await daemon.stop();
    sound = readFileSync(join(bed.folder, 'lowwater.db'));
  }),
);

function changeDatabase(path: string, sql: string): void {
  const db = new Database(path);
  db.exec(sql);
  db.close();
}

/** `run` in this process, where it is refused: that a process ends by it, too, is shown once. */
const runHere = (bed: Bed) => runCli(['run', '--config', bed.configFile], { cwd: bed.folder });

/** Ways to spoil the database, and what the one line must say. */
const spoilt: readonly (readonly [string, RegExp, (path: string) => void])[] = [
  [
    'a file that is no database',
    /no database.*move it aside/,
    (path) => writeFileSync(path, 'a shopping list '.repeat(1000)),
  ],
  [
    'a file cut in the middle',
    /damaged or was cut; it was left as it is: move it aside and restore a backup/,
    (path) => truncateSync(path, 4096 * 3),
  ],
  [
    'the database of another program',
    /another program/,
    (path) => {
      rmSync(path);
      changeDatabase(path, 'CREATE TABLE songs (title TEXT)');
    },
  ],
  [
    'a database of a newer lowwater',
    /schema 1000.*lowwater \d|lowwater \d.*schema 1000/s,
    (path) => changeDatabase(path, 'PRAGMA user_version = 1000'),
  ],
];

describe.concurrent('a database that cannot be used', () => {
  it.each(spoilt)('%s is refused with one line and exit code 1, and left as it is', (name, says, spoil) =>
    withBed({ config: { poll: { every: '1m' } } }, async (bed) => {
      const path = join(bed.folder, 'lowwater.db');
      writeFileSync(path, sound);
      spoil(path);
      const before = readFileSync(path);
      const isFirst = spoilt[0]?.[0] === name;
      const { code, stdout, stderr } = await (isFirst ? bed.launch().ended : runHere(bed));
      expect(code).toBe(1);
      expect(stderr.trimEnd().split('\n')).toHaveLength(1);
      expect(stderr).toMatch(says);
      expect(stderr).toContain(path);
      expect(`${stdout}${stderr}`).not.toMatch(/\n {4}at |"fatal"/);
      expect(readFileSync(path).equals(before)).toBe(true);
    }),
  );

  it('in a directory that is missing or may not be written is refused with one line that says so', (context) =>
    withBed({ config: { poll: { every: '1m' } } }, async (bed) => {
      bed.configure({ storage: { path: 'missing/lowwater.db' } });
      const missing = await runHere(bed);
      expect(missing.code).toBe(1);
      expect(missing.stderr).toMatch(/^lowwater: .*directory .*missing does not exist.*\n$/);

      const disk = mountSmallDisk(join(bed.folder, 'read-only'), 'size=1m,ro');
      if (disk === null) context.skip('only root can mount a read-only file system');
      try {
        bed.configure({ storage: { path: 'read-only/lowwater.db' } });
        const refused = await runHere(bed);
        expect(refused.code).toBe(1);
        expect(refused.stderr).toMatch(/^lowwater: .*read-only.*uid \d+.*\n$/);
      } finally {
        disk?.unmount();
      }
    }));

  it('on a full disk is refused with one line that says so', (context) =>
    withBed({}, async (bed) => {
      const disk = mountSmallDisk(join(bed.folder, 'full'), 'size=1m');
      if (disk === null) context.skip('only root can mount a small file system');
      try {
        bed.configure({ storage: { path: 'full/lowwater.db' } });
        writeFileSync(join(bed.folder, 'full/lowwater.db'), sound);
        disk?.fill();
        const { code, stderr } = await runHere(bed);
        expect([code, stderr]).toEqual([1, expect.stringMatching(/^lowwater: .*the disk is full.*\n$/)]);
      } finally {
        disk?.unmount();
      }
    }));

  it('because another process locks it holds up neither polls nor answers, and what was read meanwhile is stored', () =>
    withBed({}, async (bed) => {
      bed.configure({ provider: { baseUrl: bed.provider.url, timeout: '4s' } });
      const daemon = await bed.start();
      await eventually('a reading', async () => (await accountOf(daemon)).outcome === 'ok');
      const other = new Database(join(bed.folder, 'lowwater.db'));
      other.exec('BEGIN IMMEDIATE');
      const polls = bed.provider.control.requests();
      await eventually('three polls', () => bed.provider.control.requests() >= polls + 3);
      bed.provider.control.setBalance('otp', 'sms', '100');
      await eventually('the page knows', async () => (await accountOf(daemon)).balances.sms === '100');
      other.exec('COMMIT');
      other.close();
      await eventually('the alert', () => bed.slack.posts.some(({ text }) => /100\.00 CNY/.test(text)));
      expect(daemon.log().filter(({ msg }) => msg === 'the balance cannot be read')).toEqual([]);
    }));

  it('because the disk is full at run time: alerts go on from memory, that is reported once, and it mends itself', (context) =>
    withBed({}, async (bed) => {
      const disk = mountSmallDisk(join(bed.folder, 'data'), 'size=2m');
      if (disk === null) context.skip('only root can mount a small file system');
      try {
        bed.configure({ storage: { path: 'data/lowwater.db' } });
        const first = await bed.start();
        await eventually('a reading', async () => (await accountOf(first)).outcome === 'ok');
        disk?.fill();
        // A reading alone may still find room in what the write-ahead log gives back; an incident does not.
        bed.provider.control.setBalance('otp', 'sms', '100');
        const about = (words: RegExp) => bed.slack.posts.filter(({ text }) => words.test(text));
        const storing = /cannot (store|write)|stor(e|age)|database/i;
        await eventually('Slack hears of it', () => about(storing).length > 0);
        await eventually('mail hears of it', async () =>
          (await bed.mail.mails()).some(({ subject }) => storing.test(subject)),
        );
        const ready = (await first.get('/readyz')) as { readonly problems: readonly string[] };
        expect(ready.problems.join()).toMatch(/storage-failed.*full/);

        await eventually('the alert goes out from memory', () => about(/100\.00 CNY/).length > 0);
        await new Promise((resolve) => setTimeout(resolve, 2500));
        expect(about(/100\.00 CNY/)).toHaveLength(1);
        expect((await accountOf(first)).outcome).toBe('ok');

        disk?.free();
        await eventually(
          'it can store again',
          async () =>
            ((await first.get('/readyz')) as { readonly problems: readonly string[] }).problems.length === 0,
        );
        await eventually('that is reported', () => about(/RESOLVED/).length > 0);
        await eventually('nothing waits', async () =>
          (await notificationsOf(first)).every(({ state }) => state === 'delivered'),
        );
        const sent = bed.slack.posts.length;
        const [alert] = await alertsOf(first);
        await first.kill();

        const second = await bed.start();
        expect(await alertsOf(second)).toMatchObject([{ state: 'firing', incident: alert?.incident }]);
        await eventually('another poll', async () => (await accountOf(second)).outcome === 'ok');
        expect(bed.slack.posts).toHaveLength(sent);
        expect((await second.stop()).code).toBe(0);
      } finally {
        disk?.unmount();
      }
    }));
});

it('a query and a demo say that the folder of temporary files is full, and nothing of the database', (context) =>
  withBed({}, async (bed) => {
    const disk = mountSmallDisk(join(bed.folder, 'temporary'), 'size=1m');
    if (disk === null) return context.skip('only root can mount a small file system');
    try {
      writeFileSync(join(bed.folder, 'lowwater.db'), sound);
      disk.leave(0);
      const run = (...words: string[]) =>
        runBuilt(words, { cwd: bed.folder, env: { TMPDIR: disk.path, SQLITE_TMPDIR: disk.path } });
      const large = `WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 200000)
        SELECT count(*) FROM (SELECT hex(randomblob(60)) AS text FROM n ORDER BY text LIMIT 150000)`;
      const query = await run('query', '--config', bed.configFile, large);
      expect(query).toMatchObject({ code: 1, stdout: '' });
      expect(query.stderr).toMatch(/^lowwater: the folder of temporary files is full: .*\n$/);
      const demo = await run('demo', '--for', '1s');
      expect(demo).toMatchObject({ code: 1, stderr: expect.stringMatching(/^lowwater: .*ENOSPC\n$/) });
      expect(readdirSync(disk.path)).toEqual(['filler']);
    } finally {
      disk.unmount();
    }
  }));

it('database, log, lock and backup can be read by their owner alone, those of an earlier version too', () =>
  withBed({}, async (bed) => {
    const path = join(bed.folder, 'lowwater.db');
    writeFileSync(path, sound, { mode: 0o644 });
    const daemon = await bed.start();
    await eventually('a reading', async () => (await accountOf(daemon)).outcome === 'ok');
    expect((await bed.command('backup', join(bed.folder, 'copy.db'))).code).toBe(0);
    const modes = ['lowwater.db', 'lowwater.db-wal', 'lowwater.db-shm', 'lowwater.db-lock', 'copy.db'].map(
      (name) => (statSync(join(bed.folder, name)).mode & 0o007).toString(8),
    );
    expect(modes).toEqual(['0', '0', '0', '0', '0']);
    for (const name of ['lowwater.db-lock', 'copy.db']) {
      expect((statSync(join(bed.folder, name)).mode & 0o777).toString(8)).toBe('600');
    }
    await daemon.stop();
  }));

describe.concurrent('a backup', () => {
  it('made while the daemon writes is whole, and restored sends nothing of old again', () =>
    withBed({}, async (bed) => {
      const copy = join(bed.folder, 'copy.db');
      const first = await bed.start();
      bed.provider.control.setBalance('otp', 'sms', '100');
      await eventually('it fires', () => bed.slack.posts.length > 0 && bed.mail.count() > 0);
      await eventually('that is marked', async () =>
        (await notificationsOf(first)).every(({ state }) => state === 'delivered'),
      );
      expect((await bed.command('backup', copy)).code).toBe(0);
      const again = await bed.command('backup', copy);
      expect(again.code).toBe(2);
      expect(again.stderr).toMatch(/exists/);
      const [incident] = await incidentsOf(first);
      await first.kill();

      const db = new Database(copy, { readonly: true });
      expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
      db.close();
      const path = join(bed.folder, 'lowwater.db');
      for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true });
      copyFileSync(copy, path);

      const second = await bed.start();
      await eventually('it polls', async () => (await accountOf(second)).outcome === 'ok');
      expect(await alertsOf(second)).toMatchObject([{ state: 'firing', incident: incident?.id }]);
      expect(bed.slack.posts).toHaveLength(1);
      bed.provider.control.setBalance('otp', 'sms', '1000');
      await eventually('it resolves', () => bed.slack.posts.at(-1)?.text.includes('RESOLVED') ?? false);
      expect(bed.slack.posts).toHaveLength(2);
    }));
});
