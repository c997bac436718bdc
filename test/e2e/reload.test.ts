import { once } from 'node:events';
import { cpSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { accountOf, accountsOf, alertsOf, incidentsOf } from '../support/api-answers.ts';
import { startBuilt, startNode } from '../support/built-program.ts';
import { eventually } from '../support/eventually.ts';
import { otpSecret, untilRunning, withBed } from '../support/run-daemon.ts';

const lowBelow = (threshold: number) => ({
  rules: [{ id: 'sms-low', type: 'below', threshold, severity: 'warning' }],
});

describe.concurrent('reloading the configuration', () => {
  it('happens on SIGHUP; a moved threshold keeps the open incident, a removed rule closes it once', () =>
    withBed({}, async (bed) => {
      bed.configure(lowBelow(200));
      const daemon = await bed.start();
      bed.provider.control.setBalance('otp', 'sms', '100');
      const [before] = await eventually('it fires', async () => {
        const alerts = await alertsOf(daemon);
        return alerts.length > 0 ? alerts : null;
      });
      bed.configure(lowBelow(150));
      daemon.child.kill('SIGHUP');
      await eventually('it reloads', () => daemon.log().some(({ msg }) => msg === 'configuration reloaded'));
      expect(await alertsOf(daemon)).toMatchObject([{ state: 'firing', incident: before?.incident }]);

      bed.configure({ rules: [] });
      await eventually('the incident is closed', async () => (await alertsOf(daemon)).length === 0);
      await eventually('that is reported', () => bed.slack.posts.length >= 2);
      expect(bed.slack.posts.at(-1)?.text).not.toMatch(/RESOLVED/);
      expect(await incidentsOf(daemon)).toHaveLength(1);
    }));

  it('keeps an open incident when the thresholds of its account are edited, and judges it at the next reading', () =>
    withBed({}, async (bed) => {
      const withOwn = (thresholds: object) => ({
        ...lowBelow(50),
        poll: { every: '1s' },
        accounts: [{ id: 'otp', authSecret: otpSecret, thresholds: { sms: thresholds } }],
      });
      bed.configure(withOwn({ warning: 200 }));
      const daemon = await bed.start();
      bed.provider.control.setBalance('otp', 'sms', '100');
      const [before] = await eventually('it fires', async () => {
        const alerts = await alertsOf(daemon);
        return alerts.length > 0 ? alerts : null;
      });
      expect(before).toMatchObject({ severity: 'warning', threshold: '200' });
      bed.configure(withOwn({ warning: 300, critical: 150 }));
      const worse = await eventually('it is judged by the new ones', async () => {
        const alerts = await alertsOf(daemon);
        return alerts[0]?.severity === 'critical' ? alerts : null;
      });
      expect(worse).toMatchObject([{ incident: before?.incident, threshold: '150' }]);
      bed.configure(withOwn({ warning: 90 }));
      await eventually('it resolves', async () => (await alertsOf(daemon)).length === 0);
      expect(await incidentsOf(daemon)).toHaveLength(1);
    }));

  it('follows a change of the file; an invalid file is reported, shown and changes nothing; a valid one mends it', () =>
    withBed({}, async (bed) => {
      const daemon = await bed.start();
      await eventually('the first reading', async () => (await accountOf(daemon)).outcome === 'ok');
      writeFileSync(bed.configFile, '{ "provider": { "baseUrl": 5 }, "accounts": "hunter2" }');
      const ready = () =>
        daemon.get('/readyz') as Promise<{ readonly status: string; readonly problems: string[] }>;
      const { problems, status } = await eventually('it is shown', async () => {
        const answer = await ready();
        return answer.problems.length > 0 ? answer : null;
      });
      expect(status).toBe('ok');
      expect(problems.join()).toMatch(/config.*provider\.baseUrl/);
      expect((await accountOf(daemon)).outcome).toBe('ok');
      await eventually('it is reported', () =>
        bed.slack.posts.some(({ text }) => /configuration/i.test(text)),
      );

      bed.configure({
        accounts: [
          { id: 'otp', authSecret: otpSecret },
          { id: 'second', authSecret: otpSecret },
        ],
      });
      await eventually('the new account is read', async () =>
        (await accountsOf(daemon)).some(({ id, outcome }) => id === 'second' && outcome === 'ok'),
      );
      expect((await ready()).problems).toEqual([]);
      expect(daemon.output().stdout).not.toContain('hunter2');
      expect((await daemon.stop()).code).toBe(0);
    }));

  it('refuses a port that another program has: the page stays, every channel reports it, and the next reload tries again', () =>
    withBed({}, async (bed) => {
      const daemon = await bed.start();
      const other = createServer().listen(0, '127.0.0.1');
      await once(other, 'listening');
      const { port } = other.address() as AddressInfo;
      bed.configure({ server: { port } });
      await eventually('it is reported', () =>
        bed.slack.posts.some(({ text }) => /configuration/i.test(text)),
      );
      expect(await daemon.get('/readyz')).toMatchObject({
        problems: [expect.stringContaining('already in use')],
      });
      other.close();
      await once(other, 'close');
      daemon.child.kill('SIGHUP');
      const ready = () => fetch(`http://127.0.0.1:${port}/readyz`).then((answer) => answer.json());
      expect(await eventually('the page moved', () => ready().catch(() => null))).toMatchObject({
        problems: [],
      });
      expect((await daemon.stop()).code).toBe(0);
    }));

  it('follows a change and a SIGHUP that come while it starts', () =>
    withBed({}, async (bed) => {
      const launched = bed.launch();
      // The database is opened, the page does not listen yet.
      await eventually('it starts', () => launched.output().stdout.includes('database open'));
      launched.child.kill('SIGHUP');
      bed.configure({
        accounts: [
          { id: 'otp', authSecret: otpSecret },
          { id: 'second', authSecret: otpSecret },
        ],
      });
      const daemon = await untilRunning(launched);
      await eventually('the new account is there', async () =>
        (await accountsOf(daemon)).some(({ id }) => id === 'second'),
      );
      expect((await daemon.stop()).code).toBe(0);
    }));

  it('that begins as the daemon ends does not keep it from ending', () =>
    withBed({}, async (bed) => {
      const daemon = await bed.start();
      daemon.child.kill('SIGHUP');
      const { code, stdout } = await daemon.stop();
      expect(code).toBe(0);
      expect(stdout.trimEnd().split('\n').at(-1)).toContain('"msg":"stopped"');
    }));

  it('follows the symlink swap of a Kubernetes volume, and a secret file behind one', () =>
    withBed({}, async (bed) => {
      const volume = join(bed.folder, 'volume');
      const publish = (name: string, files: Readonly<Record<string, string>>) => {
        mkdirSync(join(volume, name), { recursive: true });
        for (const [file, text] of Object.entries(files)) writeFileSync(join(volume, name, file), text);
        symlinkSync(name, join(volume, '..data_tmp'));
        renameSync(join(volume, '..data_tmp'), join(volume, '..data'));
      };
      const config = JSON.stringify({
        provider: { baseUrl: bed.provider.url, maxRequestsPerSecond: 20 },
        poll: { every: '1s' },
        accounts: [{ id: 'otp', authSecret: `\${file:${join(volume, 'key')}}` }],
        channels: { ops: { type: 'slack', webhookUrl: bed.slack.url } },
        server: { port: 0 },
        storage: { path: join(bed.folder, 'k8s.db') },
      });
      publish('..2026_11_20', { 'config.json': config, key: 'an-old-and-wrong-key\n' });
      symlinkSync('..data/config.json', join(volume, 'config.json'));
      symlinkSync('..data/key', join(volume, 'key'));
      const launched = startBuilt(['run', '--config', join(volume, 'config.json')]);
      try {
        const daemon = await untilRunning(launched);
        await eventually(
          'the key is refused',
          async () => (await accountOf(daemon)).outcome === 'auth_failed',
        );
        publish('..2026_11_21', { 'config.json': config, key: `${otpSecret}\n` });
        await eventually(
          'the new key is used at once',
          async () => (await accountOf(daemon)).outcome === 'ok',
        );
        expect((await daemon.stop()).code).toBe(0);
      } finally {
        launched.child.kill('SIGKILL');
      }
    }));

  it('with a language and a kind of channel whose code was taken away under the daemon ends nothing, and the kind is loaded once it is back', () =>
    withBed({}, async (bed) => {
      const program = join(bed.folder, 'program');
      const root = join(import.meta.dirname, '../..');
      for (const part of ['dist', 'migrations', 'package.json'])
        cpSync(join(root, part), join(program, part), { recursive: true });
      symlinkSync(join(root, 'node_modules'), join(program, 'node_modules'));
      // Nobody needs what is compiled of a copy that goes with the test.
      const env = { NODE_DISABLE_COMPILE_CACHE: '1' };
      const launched = startNode([join(program, 'dist/main.js'), 'run', '--config', bed.configFile], { env });
      try {
        const daemon = await untilRunning(launched);
        renameSync(join(program, 'dist'), join(program, 'gone'));
        bed.configure({ language: 'es' });
        daemon.child.kill('SIGHUP');
        const refused = await eventually(
          'it is refused',
          () => daemon.log().find(({ msg }) => /is invalid/.test(msg)) ?? null,
        );
        expect(String(refused.problems)).toMatch(/^language: its translations cannot be loaded: /);
        const hook = { type: 'webhook', url: bed.slack.url };
        bed.configure({ channels: { hook }, routes: [{ channels: ['hook'], groupWait: '0s' }] });
        daemon.child.kill('SIGHUP');
        await eventually('it is in force', () =>
          daemon.log().some(({ msg }) => msg === 'configuration reloaded'),
        );
        bed.provider.control.setBalance('otp', 'sms', '100');
        const waits = await eventually(
          'its code is missed',
          () => daemon.log().find(({ msg }) => msg === 'message not delivered yet') ?? null,
        );
        expect(waits.reason).toMatch(/^its code cannot be loaded: /);
        renameSync(join(program, 'gone'), join(program, 'dist'));
        await eventually('it is delivered', () =>
          daemon.log().some(({ msg, channel }) => msg === 'message delivered' && channel === 'hook'),
        );
        expect((await daemon.stop()).code).toBe(0);
      } finally {
        launched.child.kill('SIGKILL');
      }
    }));
});
