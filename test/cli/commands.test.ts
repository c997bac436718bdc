import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, test } from 'vitest';
import { displayWidth } from '../../src/cli/terminal/text.ts';
import { defaultScenario, scenarioSchema } from '../../src/simulator/scenario.ts';
import { type Simulator, startSimulator } from '../../src/simulator/server.ts';
import { systemClock } from '../../src/system/clock.ts';
import { systemRandom } from '../../src/system/random.ts';
import { type CliOptions, type CliResult, runCli } from '../support/cli.ts';
import { freePort } from '../support/free-port.ts';
import { startHttpReceiver } from '../support/http-receiver.ts';
import { packagesBehind } from '../support/packages-behind.ts';
import { seedDatabase } from '../support/seed-database.ts';
import { makeSettings } from '../support/settings.ts';
import { smtpReply, startSmtpReceiver } from '../support/smtp-receiver.ts';

const token = 'a-token-of-the-tests-only';

let folder: string;
let simulator: Simulator;
let stopDaemon: () => Promise<void>;

function lowwater(words: string, options: Partial<CliOptions> = {}): Promise<CliResult> {
  return runCli(words.split(' '), { cwd: folder, ...options });
}

async function printed(words: string): Promise<string> {
  return (await lowwater(words)).stdout;
}

/** Starts the daemon in this process and waits until it has read every account. */
async function startDaemon(): Promise<() => Promise<void>> {
  const ending = new AbortController();
  const ended = lowwater('run', { signal: ending.signal });
  for (let tries = 0; tries < 200; tries++) {
    const { code: health } = await lowwater('health');
    const { code, stdout } = await lowwater('status --json');
    if (
      health === 0 &&
      code === 0 &&
      JSON.parse(stdout).accounts.every((account: { polledAt: unknown }) => account.polledAt !== null)
    )
      break;
    await new Promise((resolve) => systemClock.setTimer(20, () => resolve(null)));
  }
  return async () => {
    ending.abort();
    expect(await ended).toMatchObject({ code: 0 });
  };
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lowwater-commands-'));
  simulator = await startSimulator({
    host: '127.0.0.1',
    port: 0,
    scenario: defaultScenario,
    clock: systemClock,
    random: systemRandom,
  });
  const closedPort = await freePort();
  writeFileSync(
    join(folder, 'config.json'),
    JSON.stringify({
      provider: { baseUrl: simulator.url },
      poll: { every: '1s' },
      timezone: 'Asia/Shanghai',
      accounts: [
        { id: 'otp', name: 'OTP production', authSecret: 'demo-otp-secret' },
        { id: 'marketing', name: 'Marketing | ads', authSecret: 'demo-marketing-secret' },
        { id: 'broken', authSecret: 'a-wrong-secret' },
      ],
      rules: [{ id: 'sms-low', type: 'below', thresholds: { warning: 300, critical: 50 } }],
      channels: { ops: { type: 'slack', webhookUrl: `http://127.0.0.1:${closedPort}/services/T/B/secret` } },
      reports: [{ id: 'weekly', cron: '0 9 * * 1', channels: ['ops'] }],
      server: { port: await freePort(), token },
      log: { level: 'silent' },
    }),
  );
  stopDaemon = await startDaemon();
});

afterAll(async () => {
  await stopDaemon();
  await simulator.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('commands that read', () => {
  it('status gives the accounts as the API does', async () => {
    const { code, stdout } = await lowwater('status --json');
    expect(code).toBe(0);
    const { accounts } = JSON.parse(stdout);
    const otp = accounts.find((account: { id: string }) => account.id === 'otp');
    expect(otp).toMatchObject({
      name: 'OTP production',
      currency: 'CNY',
      outcome: 'ok',
      balances: { voip: '40' },
    });
    expect(otp.balances.sms).toMatch(/^\d+(\.\d+)?$/);
    expect(otp.readAt).toMatch(/^\d{4}-.*Z$/);
  });

  it('status fits a narrow terminal and shows symbols only there', async () => {
    const narrow = await lowwater('status', { columns: 50 });
    for (const line of narrow.stdout.split('\n')) expect(displayWidth(line)).toBeLessThanOrEqual(50);
    expect(narrow.stdout).toContain('✓ ok');
    const piped = await lowwater('status');
    expect(piped.stdout).not.toMatch(/[✓▲▁▂▃▄▅▆▇█]/);
    expect(piped.stdout).toContain('critical');
    expect(piped.stdout).toContain('cannot be read');
  });

  it.each([
    'status',
    'history otp --since 1h',
    'history otp --since 1h --balance voip',
    'history otp --table',
    'alerts --all',
    'explain otp',
    'explain broken',
    'replay --since 1h',
    'silence list',
    'report weekly --print',
  ])('%s fits terminals of 40, 80 and 200 columns', async (words) => {
    for (const columns of [40, 80, 200]) {
      const { code, stdout } = await lowwater(words, { columns });
      expect(code).toBe(0);
      const widest = Math.max(...stdout.split('\n').map(displayWidth));
      expect(widest, `${columns} columns`).toBeLessThanOrEqual(columns);
    }
  });

  it('a narrow table of readings keeps the balance that was asked for', async () => {
    const { stdout } = await lowwater('history otp --table --balance voip', { columns: 30 });
    expect(stdout).toMatch(/^AT \(Asia\/Shanghai\) +VOIP\n/);
  });

  it('history draws a chart on a terminal and writes a table elsewhere', async () => {
    const chart = await lowwater('history otp --since 1h', { columns: 90 });
    expect(chart.stdout).toContain('OTP production: SMS balance');
    expect(chart.stdout).toMatch(/[\u2801-\u28ff]/);
    const table = await lowwater('history otp --since 1h');
    expect(table.stdout).toMatch(
      /^AT \(Asia\/Shanghai\) +SMS +VOIP +CURRENCY\n\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +6\d\d\./,
    );
  });

  it('history writes CSV with exact amounts, CRLF and times in UTC', async () => {
    const { stdout } = await lowwater('history marketing --csv');
    const [header, first] = stdout.split('\r\n');
    expect(header).toBe('at,sms,voip,currency');
    expect(first).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z,\d+(\.\d+)?,0,CNY$/);
    expect(stdout.endsWith('\r\n')).toBe(true);
  });

  it('history says so when nothing was read', async () => {
    expect((await lowwater('history broken')).stdout).toContain('No readings of broken');
    expect((await lowwater('history broken --csv')).stdout).toBe('at,sms,voip,currency\r\n');
    expect(JSON.parse((await lowwater('history broken --json')).stdout)).toEqual({ points: [] });
  });

  it('alerts lists what fires, worst numbers and all', async () => {
    const { alerts } = JSON.parse((await lowwater('alerts --json')).stdout);
    expect(alerts).toContainEqual(
      expect.objectContaining({
        account: 'marketing',
        rule: 'sms-low',
        severity: 'warning',
        state: 'firing',
      }),
    );
    expect(alerts).toContainEqual(expect.objectContaining({ account: 'broken', rule: 'auth-failed' }));
    expect((await lowwater('alerts')).stdout).toMatch(/firing +warning +marketing +sms-low/);
  });

  it('explain names the numbers behind a verdict', async () => {
    const { stdout } = await lowwater('explain marketing sms-low');
    expect(stdout).toContain('sms-low (below): breached, warning');
    expect(stdout).toMatch(/threshold +300\.00 CNY/);
    const json = JSON.parse((await lowwater('explain marketing --json')).stdout);
    expect(json.rules).toContainEqual(expect.objectContaining({ rule: 'sms-low', verdict: 'breached' }));
  });

  it.each([
    'status',
    'alerts',
    'history otp',
    'audit',
    'explain otp',
    'routes otp sms-low',
    'silence list',
    'expect',
    'expect-spending',
    'providers',
  ])('%s --help names every field that its JSON has', async (words) => {
    const json: object = JSON.parse(await printed(`${words} --json`));
    const entries: readonly object[] = Object.values(json).flatMap((it) => (Array.isArray(it) ? it : []));
    const fields = [json, ...entries].flatMap((it) => Object.keys(it));
    const help = await printed(`${words} --help`);
    expect(fields.filter((field) => !help.includes(`"${field}"`))).toEqual([]);
  });

  it('unack --help says nothing of who else has an incident, since it asks nobody', async () => {
    expect(await printed('ack --help')).toContain('`heldBy`');
    expect(await printed('unack --help')).not.toMatch(/heldBy|somebody else/);
  });

  it('check exits as monitoring plugins do and stores nothing', async () => {
    expect(await lowwater('check --account otp')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^OK: /),
    });
    expect(await lowwater('check --account marketing')).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(
        /^WARNING: marketing: sms-low \d+\.\d\d CNY; 0 of 1 account fine \| 'marketing sms'=[\d.]+;300:;50: 'marketing voip'=0\n/,
      ),
    });
    expect(await lowwater('check --account broken')).toMatchObject({
      code: 2,
      stdout: expect.stringMatching(/^CRITICAL: broken: auth-failed/),
    });
    const { status, accounts } = JSON.parse((await lowwater('check --json')).stdout);
    expect(status).toBe('critical');
    expect(accounts).toHaveLength(3);
    expect(accounts[0].usageHeaders).not.toEqual({});
  });

  it('check has a bar before the performance data alone, whatever an account is called', async () => {
    const words = (await printed('check')).split('|');
    expect(words).toHaveLength(2);
    expect(words[1]).toMatch(/\nMarketing \/ ads \(marketing\)\n/);
  });

  it('check asks the daemon in the name of the person, as the audit shows', async () => {
    const { audit } = JSON.parse(await printed('audit --json'));
    const polls = audit.filter(({ action }: { action: string }) => action === 'poll');
    expect(polls[0]).toMatchObject({ by: 'tester', from: '127.0.0.1' });
    expect(polls).not.toContainEqual(expect.objectContaining({ by: 'api' }));
  });

  it('report prints what would be sent', async () => {
    const { code, stdout } = await lowwater('report weekly --print');
    expect(code).toBe(0);
    expect(stdout).toContain('OTP production');
  });

  it('backup copies the live database once and never overwrites', async () => {
    expect(await lowwater('backup copy.db')).toMatchObject({ code: 0 });
    expect(await lowwater('backup copy.db')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('never overwrites'),
    });
  });

  it('health knows that the daemon lives', async () => {
    expect(await lowwater('health')).toMatchObject({ code: 0, stdout: 'alive\n' });
  });
});

describe('commands that send', () => {
  it('test-channel tells the failure without the address of the channel', async () => {
    const { code, stderr } = await lowwater('test-channel ops');
    expect(code).toBe(1);
    expect(stderr).toContain('ops: not delivered');
    expect(stderr).not.toContain('services');
  });

  it('test-channel names who refused it for good where the others did for now', async () => {
    const mail = await startSmtpReceiver({
      onRcptTo: ({ address }, _session, done) =>
        done(address.startsWith('late') ? smtpReply(450, 'greylisted') : smtpReply(550, 'no such user')),
    });
    const own = mkdtempSync(join(tmpdir(), 'lowwater-test-channel-'));
    onTestFinished(async () => {
      await mail.close();
      rmSync(own, { recursive: true });
    });
    const to = ['late@example.com', 'typo@example.com'];
    const finance = {
      type: 'email',
      smtpUrl: `smtp://127.0.0.1:${mail.port}`,
      from: 'lowwater@example.com',
      to,
    };
    const accounts = [{ id: 'otp', authSecret: 'demo-otp-secret' }];
    const config = { provider: { baseUrl: simulator.url }, accounts, channels: { finance } };
    writeFileSync(join(own, 'config.json'), JSON.stringify(config));
    const { code, stderr } = await runCli(['test-channel', 'finance'], { cwd: own });
    const { stdout } = await runCli(['test-channel', 'finance', '--json'], { cwd: own });
    const reason =
      'the mail server answered 450 greylisted; refused for typo@example.com (the mail server answered 550 no such user)';
    expect([code, stderr]).toEqual([1, `lowwater: finance: not delivered: ${reason}\n`]);
    expect(JSON.parse(stdout)).toMatchObject({ reason, refusedRecipients: ['typo@example.com'] });
  });

  it('report prints JSON as the webhook channel would send it', async () => {
    const { code, stdout } = await lowwater('report weekly --print --json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      type: 'lowwater.report',
      data: { report: 'weekly', truncated: 0 },
    });
  });

  it('report tells which channel did not get it', async () => {
    const { code, stderr } = await lowwater('report weekly');
    expect(code).toBe(1);
    expect(stderr).toContain('ops');
  });

  it('report asks the daemon in the name of the person, as the audit shows', async () => {
    await lowwater('report weekly');
    const { audit } = JSON.parse(await printed('audit --json'));
    expect(audit[0]).toMatchObject({ action: 'report', by: 'tester', from: '127.0.0.1', detail: 'weekly' });
  });
});

it('a report that is sent now reaches each channel in its own language, as a message of its own, as one on schedule does', async () => {
  const receiver = await startHttpReceiver((response) => response.end());
  const own = mkdtempSync(join(tmpdir(), 'lowwater-report-'));
  onTestFinished(async () => {
    await receiver.close();
    rmSync(own, { recursive: true });
  });
  seedDatabase(join(own, 'lowwater.db'), makeSettings(), []);
  const channel = (name: string, language?: string) => ({
    [name]: { type: 'webhook', url: `${receiver.url}/${name}`, language },
  });
  const send = async (report: object) => {
    const config = {
      ...{ provider: { baseUrl: simulator.url }, accounts: [{ id: 'otp', authSecret: 'demo-otp-secret' }] },
      channels: { ...channel('plain'), ...channel('zh', 'zh-CN'), ...channel('es', 'es') },
      reports: [{ id: 'w', cron: '0 9 * * 1', channels: ['plain', 'zh', 'es'], ...report }],
      // Whatever runs on this machine is not asked.
      server: null,
    };
    writeFileSync(join(own, 'config.json'), JSON.stringify(config));
    const before = receiver.received.length;
    expect(await runCli(['report', 'w'], { cwd: own })).toMatchObject({ code: 0 });
    const sent = receiver.received.slice(before);
    // Who gets two of them by mail would keep one where both had one Message-ID.
    expect(new Set(sent.map(({ headers }) => headers['webhook-id'])).size).toBe(3);
    const heads = sent.map(({ path, body }) => [
      path.split('/').at(-1),
      JSON.parse(body).data.headline.match(/\p{L}+/u)[0],
    ]);
    return Object.fromEntries(heads);
  };
  expect(await send({})).toEqual({ plain: 'REPORT', zh: '报告', es: 'INFORME' });
  expect(await send({ language: 'es' })).toEqual({ plain: 'INFORME', zh: 'INFORME', es: 'INFORME' });
});

it('a report of a database that is not there is neither sent nor printed', async () => {
  const receiver = await startHttpReceiver((response) => response.end());
  const own = mkdtempSync(join(tmpdir(), 'lowwater-report-'));
  onTestFinished(async () => {
    await receiver.close();
    rmSync(own, { recursive: true });
  });
  const config = {
    ...{ provider: { baseUrl: simulator.url }, accounts: [{ id: 'otp', authSecret: 'demo-otp-secret' }] },
    channels: { ops: { type: 'webhook', url: receiver.url } },
    reports: [{ id: 'w', cron: '0 9 * * 1', channels: ['ops'] }],
    server: null,
  };
  writeFileSync(join(own, 'config.json'), JSON.stringify(config));
  for (const words of [
    ['report', 'w'],
    ['report', 'w', '--print'],
  ])
    expect(await runCli(words, { cwd: own })).toMatchObject({
      ...{ code: 1, stdout: '' },
      stderr: expect.stringContaining('does not exist yet'),
    });
  expect(receiver.received).toEqual([]);
});

describe('commands that change', () => {
  it('ack acts on the running daemon at once, with the name of the person', async () => {
    const { code, stdout } = await lowwater('ack marketing sms-low');
    expect(code).toBe(0);
    expect(stdout).not.toContain('database');
    const { alerts } = JSON.parse((await lowwater('alerts --json')).stdout);
    expect(alerts).toContainEqual(
      expect.objectContaining({
        account: 'marketing',
        acknowledged: expect.objectContaining({ by: 'tester' }),
      }),
    );
  });

  it('ack tells a second person who has it, and ends well', async () => {
    expect(await lowwater('ack marketing sms-low --by Two')).toMatchObject({
      code: 0,
      stdout: 'marketing sms-low is acknowledged already, by tester: nothing was changed.\n',
    });
    expect(JSON.parse(await printed('ack marketing sms-low --by Two --json'))).toMatchObject({
      ...{ acknowledged: true, heldBy: 'tester', inForce: true },
    });
  });

  it('ack is refused for what does not fire', async () => {
    expect(await lowwater('ack otp sms-low')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('otp'),
    });
  });

  it('a silence is added, listed and expired through the daemon', async () => {
    const { stdout } = await lowwater('silence add --account broken --for 2h --comment rotating');
    const id = /Silence (\S+):/.exec(stdout)?.[1] ?? '';
    await expect
      .poll(() => printed('silence list'))
      .toMatch(new RegExp(`active +account broken .* rotating +${id}`));
    expect(await lowwater(`silence expire ${id}`)).toMatchObject({ code: 0 });
    await expect.poll(() => printed('silence list')).toBe('Nothing is silenced.\n');
    expect(await lowwater(`silence expire ${id}x`)).toMatchObject({ code: 1 });
  });

  it('orders print what became of them as JSON too, and whether a daemon has them already', async () => {
    const json = async (line: string) => JSON.parse(await printed(`${line} --json`));
    const taken = { account: 'marketing', rule: 'sms-low', acknowledged: true, inForce: true };
    expect(await json('ack marketing sms-low')).toEqual({ ...taken, heldBy: 'tester' });
    expect(await json('unack marketing sms-low')).toEqual({ ...taken, acknowledged: false });
    const { id, ...made } = await json('silence add --account broken --for 2h --comment rotating');
    expect(made).toMatchObject({
      match: { account: ['broken'] },
      by: 'tester',
      comment: 'rotating',
      inForce: true,
    });
    expect(Date.parse(made.endsAt) - Date.parse(made.startsAt)).toBe(2 * 60 * 60 * 1000);
    expect(await json(`silence expire ${id}`)).toEqual({ id, inForce: true });
  });

  it('a silence of a rule that does not exist is refused, one of an alert about lowwater is not', async () => {
    expect(await lowwater('silence add --rule sms-lwo --for 2h')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('did you mean "sms-low"?'),
    });
    for (const rule of ['config-invalid', 'storage-failed:otp']) {
      const added = await lowwater(`silence add --rule ${rule} --for 2h`);
      const id = /Silence (\S+):/.exec(added.stdout)?.[1] ?? '';
      expect(await lowwater(`silence expire ${id}`), rule).toMatchObject({ code: 0 });
    }
  });

  it('orders wait in the database while no daemon runs, and are carried out when it starts', async () => {
    const added = await lowwater('silence add --rule sms-low --for 2h');
    const id = /Silence (\S+):/.exec(added.stdout)?.[1] ?? '';
    await stopDaemon();
    expect(await lowwater('health')).toMatchObject({ code: 1 });
    expect(await printed('ack broken auth-failed --by Ada')).toContain('in the database');
    expect(await lowwater('unack marketing no-such-rule')).toMatchObject({ code: 1 });
    expect(await printed('silence add --everything --for 1h')).toMatch(/^Silence s-.*: every alert until/);
    expect(await printed('silence add --label team=a --label team=b --for 1h')).toContain(
      ': team a or b until',
    );
    const silenced = JSON.parse(await printed('silence add --account broken --for 1h --json'));
    expect(silenced).toMatchObject({ match: { account: ['broken'] }, inForce: false });
    for (const by of ['Ada', 'Ben'])
      expect(await printed(`ack broken auth-failed --by ${by}`)).toBe(
        'broken auth-failed is acknowledged already, by Ada: nothing was changed.\n',
      );
    expect(await printed(`silence expire ${id}`)).toContain('in the database');
    const refused = await lowwater('ack broken sms-low');
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('firing: auth-failed') });
    stopDaemon = await startDaemon();
    const made = expect.objectContaining({ match: { account: ['broken'] }, by: 'tester', active: true });
    const all = expect.objectContaining({ match: {} });
    const labelled = expect.objectContaining({ match: { labels: { team: ['a', 'b'] } } });
    await expect
      .poll(async () => JSON.parse(await printed('silence list --json')).silences)
      .toEqual(expect.arrayContaining([made, all, labelled]));
    const held = expect.objectContaining({
      account: 'broken',
      acknowledged: expect.objectContaining({ by: 'Ada' }),
      silenced: true,
    });
    await expect.poll(async () => JSON.parse(await printed('alerts --json')).alerts).toContainEqual(held);
  });

  it('unack removes an acknowledgement through the running daemon too, which says when there is none', async () => {
    await lowwater('ack marketing sms-low --by Grace');
    expect(await printed('unack marketing sms-low')).toBe('Acknowledgement of marketing sms-low removed.\n');
    expect(await lowwater('unack marketing sms-low')).toMatchObject({ code: 1, stdout: '' });
  });

  it('everything is muted through the running daemon only in so many words', async () => {
    const id =
      /Silence (\S+): every alert/.exec(await printed('silence add --everything --for 1h'))?.[1] ?? '';
    expect(await lowwater(`silence expire ${id}`)).toMatchObject({ code: 0 });
  });

  it('unack removes an acknowledgement', async () => {
    await stopDaemon();
    expect(await printed('unack broken auth-failed')).toContain(
      'Acknowledgement of broken auth-failed removed.',
    );
    stopDaemon = await startDaemon();
    const given = expect.objectContaining({ account: 'broken', rule: 'auth-failed', acknowledged: null });
    await expect.poll(async () => JSON.parse(await printed('alerts --json')).alerts).toContainEqual(given);
  });

  it('the end of a silence outlives a restart', async () => {
    const added = await lowwater('silence add --account otp --for 2h');
    const id = /Silence (\S+):/.exec(added.stdout)?.[1] ?? '';
    await lowwater(`silence expire ${id}`);
    await stopDaemon();
    stopDaemon = await startDaemon();
    expect(await printed('silence list')).not.toContain(id);
  });
});

describe('what cannot be done', () => {
  it.each([
    ['an unknown account', 'history opt', 'did you mean "otp"?'],
    ['an unknown rule', 'explain otp sms-lo', 'did you mean "sms-low"?'],
    ['an unknown channel', 'test-channel op', 'did you mean "ops"?'],
    ['an unknown report', 'report weakly', 'did you mean "weekly"?'],
    ['an unknown command', 'stauts', 'Did you mean status?'],
    ['help about an unknown command', 'help stauts', 'Did you mean status?'],
    ['help of an unknown command', 'stauts --help', 'Did you mean status?'],
    ['an unknown option', 'status --jsom', 'Did you mean --json?'],
    ['an unknown member of a group', 'silence lst', 'Did you mean list?\n  see lowwater silence --help'],
    ['a bad duration', 'silence add --for soon', '90s, 5m, 1h30m or 2d'],
    ['a silence without an end', 'silence add', '--for is missing'],
    ['a silence of nothing in particular', 'silence add --for 1h', '--everything'],
    [
      'a silence of everything and an account',
      'silence add --for 1h --everything --account otp',
      'stands alone',
    ],
    ['a label without a value', 'silence add --for 1h --label team', 'key=value'],
    [
      'a label that cannot be one',
      'silence add --for 1h --account otp --label __proto__=x',
      'no label can be called "__proto__"',
    ],
    ['a bad severity', 'silence add --for 1h --severity bad', 'info, warning, critical'],
    ['a bad balance', 'history otp --balance fax', 'sms and voip'],
    ['a bad time', 'history otp --since yesterday', 'write it as 7d'],
    ['an end before the beginning', 'history otp --since 1h --until 2h', 'before --until'],
    ['a missing argument', 'history', "missing required argument 'ID'"],
    ['too many arguments', 'status otp', 'Expected 0 arguments but got 1: otp'],
    ['an option without its value', 'history otp --since', "'--since <TIME>' argument missing"],
    ['an option in the place of a value', 'history otp --since --json', "'--since <TIME>' argument missing"],
    ['a switch with a value', 'status --json=yes', 'a switch takes no value'],
    ['readings in two forms at once', 'history otp --csv --json', 'either --csv or --json'],
    ['an option given twice', 'history otp --since 1h --since 2h', 'given twice'],
    ['an id that an address would take for a step up', 'silence expire ..', '".." is not a valid id'],
    [
      'a comment longer than the daemon takes, which it would hear of by the size of a body',
      `silence add --account otp --for 2h --comment ${'x'.repeat(100_000)}`,
      '--comment must be at most 500 characters',
    ],
    ['a configuration before and behind the command', '--config a status --config b', 'given twice'],
    ['one before and behind a command of two words', '--config a silence list --config b', 'given twice'],
  ])('%s is refused with exit code 2 and what is allowed', async (_name, words, hint) => {
    const { code, stdout, stderr } = await lowwater(words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(hint);
  });

  it('a database that does not exist yet is said to be so', async () => {
    const other = mkdtempSync(join(tmpdir(), 'lowwater-empty-'));
    writeFileSync(
      join(other, 'config.json'),
      JSON.stringify({
        provider: { baseUrl: simulator.url },
        accounts: [{ id: 'otp', authSecret: 'demo-otp-secret' }],
        channels: { ops: { type: 'webhook', url: 'http://127.0.0.1:9/' } },
        server: null,
      }),
    );
    expect(await runCli(['status'], { cwd: other })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('does not exist'),
    });
    // What was typed wrongly is said first, and with the exit code of wrong usage.
    for (const words of [
      'history opt',
      'history otp --since yesterday',
      'explain otp sms-lo',
      'silence add --account otp',
      'silence add --for 1h',
    ])
      expect([words, (await runCli(words.split(' '), { cwd: other })).code]).toEqual([words, 2]);
    expect(await runCli(['check'], { cwd: other })).toMatchObject({
      code: 0,
      stdout: expect.not.stringContaining('POST'),
    });
    expect(await runCli(['check', '--explain-request'], { cwd: other })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^otp\n {2}POST .*balance\n/),
    });
    expect(await runCli(['health'], { cwd: other })).toMatchObject({ code: 0 });
    rmSync(other, { recursive: true, force: true });
  });
});

test('check calls no account fine that is used up without an alert, and leaves the exit code to the rules', async () => {
  const own = mkdtempSync(join(tmpdir(), 'lowwater-used-up-'));
  const scenario = scenarioSchema.parse({
    accounts: [{ id: 'otp', authSecret: 's', sms: '1000', voip: '-5' }],
  });
  const real = { host: '127.0.0.1', port: 0, clock: systemClock, random: systemRandom };
  const provider = await startSimulator({ ...real, scenario });
  onTestFinished(async () => {
    await provider.close();
    rmSync(own, { recursive: true, force: true });
  });
  const accounts = [{ id: 'otp', authSecret: 's' }];
  writeFileSync(
    join(own, 'config.json'),
    JSON.stringify({
      provider: { baseUrl: provider.url },
      poll: { every: '1m' },
      accounts,
      rules: [],
      server: null,
    }),
  );
  const { code, stdout } = await runCli(['check'], { cwd: own });
  expect(stdout).toMatch(/^OK: 0 of 1 account fine; 1 without an alert may be empty within a day \|/);
  expect(code).toBe(0);
});

describe('help', () => {
  it.each([
    ['--help'],
    ['help'],
    ['status --help'],
    ['help status'],
    ['silence --help'],
    ['silence add -h'],
    ['history --help'],
  ])('%s goes to standard output with exit code 0', async (words) => {
    const { code, stdout, stderr } = await lowwater(words);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('Usage');
  });

  it('takes --config before the command too', async () => {
    const { code } = await runCli(['--config', join(folder, 'config.json'), 'alerts'], { cwd: tmpdir() });
    expect(code).toBe(0);
  });
});

it('a command loads what it needs when it runs: --version pays for no schema, no client, no database', () => {
  const commands = join(import.meta.dirname, '../../src/cli/commands/registry.ts');
  expect([...packagesBehind(commands)].filter((name) => !name.startsWith('node:'))).toEqual(['string-width']);
});
