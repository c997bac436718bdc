import { readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { accountOf, type alertsOf } from '../support/api-answers.ts';
import { type Ended, runBuilt } from '../support/built-program.ts';
import { runCli } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { type Bed, type RunningDaemon, withBed } from '../support/run-daemon.ts';

function read<T>(ended: Pick<Ended, 'stdout' | 'stderr'>): T {
  expect(ended.stderr).toBe('');
  return JSON.parse(ended.stdout) as T;
}

async function findFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

type Run = (...words: readonly string[]) => Promise<Pick<Ended, 'code' | 'stdout' | 'stderr'>>;

/** A command in this process, on the same real rooms: not every look at the daemon must cost a start. */
function runHere(bed: Bed): Run {
  return (...words) => runCli([...words, '--config', bed.configFile], { cwd: bed.folder });
}

/** Acknowledges, silences and expires, and sees each in the running daemon. */
async function operate(run: Run, see: () => ReturnType<typeof alertsOf>): Promise<void> {
  const ack = await run('ack', 'otp', 'sms-low', '--comment', 'top-up ordered');
  expect(ack).toMatchObject({ code: 0, stderr: '' });
  await eventually(
    'it is acknowledged',
    async () => (await see())[0]?.acknowledged?.comment === 'top-up ordered',
    3000,
  );

  const added = await run('silence', 'add', '--account', 'otp', '--for', '1h', '--comment', 'maintenance');
  expect(added.code).toBe(0);
  await eventually('it is silenced', async () => (await see())[0]?.silenced === true, 3000);
  const listed = read<{ silences: { id: string; comment: string; active: boolean }[] }>(
    await run('silence', 'list', '--json'),
  );
  expect(listed.silences).toMatchObject([{ comment: 'maintenance', active: true }]);
  const id = listed.silences[0]?.id ?? '';
  expect(added.stdout).toContain(id);
  expect((await run('silence', 'expire', id)).code).toBe(0);
  await eventually('the silence is over', async () => (await see())[0]?.silenced === false, 3000);
}

async function startLow(bed: Bed): Promise<RunningDaemon> {
  const daemon = await bed.start();
  bed.provider.control.setBalance('otp', 'sms', '120.5');
  await eventually('it fires', () => bed.slack.accepted().length > 0);
  return daemon;
}

describe.concurrent('the command line next to a running daemon', () => {
  it('orders through its HTTP server', () =>
    withBed({}, async (bed) => {
      bed.configure({ server: { port: await findFreePort(), token: 'a-token-of-the-page' } });
      const daemon = await startLow(bed);
      const auth = { authorization: 'Bearer a-token-of-the-page' };
      // One of each order in a process of its own.
      const run: Run = (...words) =>
        words[0] === 'ack' || words[1] === 'add' ? bed.command(...words) : runHere(bed)(...words);
      await operate(run, async () => {
        const { alerts } = (await daemon.get('/api/v1/alerts', auth)) as {
          alerts: Awaited<ReturnType<typeof alertsOf>>;
        };
        return alerts;
      });
      const unknown = await runHere(bed)('ack', 'otp', 'no-such-rule');
      expect(unknown).toMatchObject({ code: 1, stdout: '' });
      expect(unknown.stderr).toMatch(/^lowwater: .+\n$/);
      expect((await bed.command('health')).code).toBe(0);
    }));

  it('orders through the database where the daemon has no server, and it notices within 2 s', () =>
    withBed({ config: { server: null } }, async (bed) => {
      await startLow(bed);
      const see = async () => {
        const { stdout } = await runHere(bed)('alerts', '--json');
        return (JSON.parse(stdout) as { alerts: Awaited<ReturnType<typeof alertsOf>> }).alerts;
      };
      await operate(runHere(bed), see);
    }));

  it('waits once for a daemon that stands still, says so in one line, and answers from the database', async () =>
    withBed({ config: { server: { port: await findFreePort() } } }, async (bed) => {
      const daemon = await bed.start();
      await eventually('a reading', async () => (await accountOf(daemon)).outcome === 'ok');
      daemon.child.kill('SIGSTOP');
      const { code, stdout, stderr } = await runHere(bed)('status');
      expect([code, stdout]).toEqual([0, expect.stringContaining('otp')]);
      expect(stderr.match(/did not answer/g)).toHaveLength(1);
    }));

  it('reads what the daemon stored', () =>
    withBed(
      {
        config: {
          reports: [{ id: 'weekly', cron: '0 9 * * 1', channels: ['finance'] }],
        },
      },
      async (bed) => {
        await startLow(bed);
        const run = runHere(bed);
        const csv = join(bed.folder, 'history.csv');
        const [status, history, alerts, explain, report, check, unknown] = await Promise.all([
          run('status', '--json'),
          run('history', 'otp', '--csv'),
          run('alerts', '--json'),
          run('explain', 'otp', 'sms-low', '--json'),
          run('report', 'weekly', '--print'),
          run('check', '--json'),
          run('history', 'opt'),
        ]);
        expect(read<{ accounts: unknown[] }>(status).accounts).toMatchObject([
          { id: 'otp', outcome: 'ok', balances: { sms: '120.5', voip: '40' } },
        ]);
        expect(history.stdout).toMatch(/^at,sms,voip,currency\r?\n/);
        expect(history.stdout).toContain(',120.5,40,CNY');
        expect(read<{ alerts: unknown[] }>(alerts).alerts).toMatchObject([
          {
            account: 'otp',
            rule: 'sms-low',
            state: 'firing',
            severity: 'warning',
            value: '120.5',
            threshold: '200',
          },
        ]);
        expect(read<{ rules: unknown[] }>(explain).rules).toMatchObject([
          { rule: 'sms-low', verdict: 'breached' },
        ]);
        expect(report).toMatchObject({ code: 0, stdout: expect.stringContaining('120.50 CNY') });
        expect(check.code).toBe(1);
        expect(unknown.code).toBe(2);
        expect(unknown.stderr).toContain('otp');

        writeFileSync(csv, history.stdout);
        const [replay, tested, bad] = await Promise.all([
          run('replay', '--input', csv, '--json'),
          run('test-channel', 'ops', '--json'),
          run('test-channel', 'nobody'),
        ]);
        expect(read<{ incidents: unknown[] }>(replay).incidents).toMatchObject([
          { account: 'otp', rule: 'sms-low', severity: 'warning', resolvedAt: null, value: '120.5' },
        ]);
        expect(read<unknown>(tested)).toMatchObject({ channel: 'ops', result: 'delivered' });
        expect(bed.slack.posts.at(-1)?.text).toMatch(/test/i);
        expect(bad.code).toBe(2);
      },
    ));
});

describe('check', () => {
  it('exits as monitoring plugins do: fine, warning, critical, unknown; and stores nothing', () =>
    withBed({}, async (bed) => {
      const { control } = bed.provider;
      const codes: (number | null)[] = [];
      for (const sms of ['1000', '120', '-3']) {
        control.setBalance('otp', 'sms', sms);
        codes.push((await runHere(bed)('check')).code);
      }
      control.fail({ kind: 'reset' });
      // A process ends with it, too.
      codes.push((await bed.command('check')).code);
      expect(codes).toEqual([0, 1, 2, 3]);
      expect(readdirSync(bed.folder)).toEqual(['config.json']);
    }));
});

describe('a bad configuration', () => {
  it('ends with 2: every error with path, line, column and what is allowed; no stack trace, no secret, nothing started', () =>
    withBed({}, async (bed) => {
      writeFileSync(
        bed.configFile,
        `{
  "provider": { "baseUrl": "http://api.example.com", "timeot": "10s" },
  "accounts": [{ "id": "OTP!", "authSecret": "hunter2-hunter2", "poll": { "every": "soon" } },
               { "id": "other", "authSecret": "\${env:NO_SUCH_VARIABLE}" }],
  "rules": [{ "id": "low", "type": "belwo", "threshold": 5 },
            { "id": "drop", "type": "drop", "by": "5 bananas", "window": "1h" }],
  "channels": { "ops": { "type": "slack", "webhookUrl": "ftp://hunter3.example.com/hunter3" },
                "mail": { "type": "email", "smtpUrl": "smtp://me:50%hunter4@mail.example.com", "to": ["b@example.com"], "from": "a@example.com" } },
  "routes": [{ "channels": ["opps"] }],
  "silences": [{ "match": { "account": "x" }, "cron": "0 0 30 2 *", "duration": "2h", "timezone": "Mars/X" }],
  "server": { "host": "0.0.0.0" }
}`,
      );
      const { code, stdout, stderr } = await runBuilt(['run', '--config', bed.configFile], {
        cwd: bed.folder,
      });
      expect(code).toBe(2);
      expect(stdout).toBe('');
      for (const [place, path] of [
        ['2:54', 'provider.timeot'],
        ['3:18', 'accounts[0].id'],
        ['3:75', 'accounts[0].poll.every'],
        ['4:33', 'accounts[1].authSecret'],
        ['5:28', 'rules[0].type'],
        ['6:45', 'rules[1].by'],
        ['7:43', 'channels.ops.webhookUrl'],
        ['8:44', 'channels.mail.smtpUrl'],
        ['10:87', 'silences[0].timezone'],
      ] as const) {
        expect(stderr).toContain(`config.json:${place}: ${path}`);
      }
      expect(stderr).not.toMatch(/hunter|\n {4}at |Error:/);
      expect(readdirSync(bed.folder)).toEqual(['config.json']);
    }));
});
