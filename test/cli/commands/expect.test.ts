import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CliResult, runCli } from '../../support/cli.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { type Bed, makeBed, type RunningDaemon } from '../../support/run-daemon.ts';

let bed: Bed;
let daemon: RunningDaemon;

beforeAll(async () => {
  bed = await makeBed({ config: { timezone: 'Asia/Shanghai', server: { port: await freePort() } } });
  daemon = await bed.start();
  await eventually('it has read', async () => (await run('status', '--line')).stdout.includes('1 account'));
});
afterAll(() => bed.close());

const run = (...words: string[]): Promise<CliResult> =>
  runCli([...words, '--config', bed.configFile], { cwd: bed.folder });
const listed = async () => JSON.parse((await run('expect', '--json')).stdout).expected;

describe('lowwater expect', () => {
  it('announces a top-up in the currency of the account, lists it, and cancels it by its id', async () => {
    expect((await run('expect')).stdout).toBe('No top-up is expected.\n');
    const made = await run('expect', 'otp', '5000.50', '--by', '2099-01-01', '--comment', 'PO-4711');
    expect(made).toMatchObject({ code: 2, stderr: expect.stringContaining('within 366 days') });
    const day = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10);
    const ordered = await run(
      'expect',
      'otp',
      '5000.50',
      '--by',
      day,
      '--comment',
      'PO-4711',
      '--ordered-by',
      'ada',
    );
    expect(ordered).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('5,000.50 CNY expected on otp by'),
    });
    const [topUp, ...others] = await listed();
    expect(others).toEqual([]);
    expect(topUp).toMatchObject({
      account: 'otp',
      balance: 'sms',
      amount: '5000.5',
      orderedBy: 'ada',
      comment: 'PO-4711',
      arrivesBy: `${day}T15:59:59.000Z`,
    });
    expect((await run('expect')).stdout).toMatch(/otp +sms +5,000\.50 CNY +0\.00 CNY .*PO-4711/);
    expect((await run('expect', '--cancel', topUp.id)).code).toBe(0);
    expect(await listed()).toEqual([]);
    expect((await run('audit')).stdout).toContain('expect-top-up');
  });

  it('names the currency of a run that is announced', async () => {
    const days = [1, 2].map((ahead) => new Date(Date.now() + ahead * 86_400_000).toISOString().slice(0, 10));
    const order = ['otp', '400', '--from', days[0] ?? '', '--to', days[1] ?? ''];
    expect((await run('expect-spending', ...order)).stdout).toContain(
      '400.00 CNY beyond the usual announced',
    );
    expect((await run('expect-spending')).stdout).toMatch(/otp +sms +400\.00 CNY .* 0\.00 CNY/);
  });

  it('shows on a terminal of 80 columns the id by which each is ended, wherever the zone has a long name', async () => {
    const days = [1, 2].map((ahead) => new Date(Date.now() + ahead * 86_400_000).toISOString().slice(0, 10));
    const [from = '', to = ''] = days;
    await run('expect-spending', 'otp', '40000', '--from', from, '--to', to);
    await run('expect', 'otp', '12000', '--by', to);
    await run('silence', 'add', '--account', 'otp', '--rule', 'sms-low', '--for', '1h');
    for (const list of [['expect-spending'], ['expect'], ['silence', 'list']]) {
      const options = { cwd: bed.folder, columns: 80 };
      const { stdout } = await runCli([...list, '--config', bed.configFile], options);
      const [made = []] = Object.values<{ id: string }[]>(JSON.parse((await run(...list, '--json')).stdout));
      for (const { id } of made) {
        expect(stdout).toContain(id);
        const end = list[0] === 'silence' ? ['silence', 'expire', id] : [...list, '--cancel', id];
        expect(await run(...end)).toMatchObject({ code: 0 });
      }
      expect(made).not.toEqual([]);
      expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
    }
  });

  it('says what a daemon of another version has done, whose accounts it cannot read, without their currency', async () => {
    const options = { cwd: bed.folder, version: '9.9.0' };
    const at = ['--server', daemon.url];
    const [from = '', to = ''] = [1, 2].map((ahead) =>
      new Date(Date.now() + ahead * 86_400_000).toISOString().slice(0, 10),
    );
    expect(await runCli(['expect', 'otp', '70', '--by', to, ...at], options)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^70\.00 expected on otp by /),
    });
    const run = ['expect-spending', 'otp', '30', '--from', from, '--to', to, ...at];
    expect(await runCli(run, options)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^30\.00 beyond the usual announced on otp, /),
    });
    const [{ id }] = await listed();
    expect((await runCli(['expect', '--cancel', id, ...at], options)).code).toBe(0);
  });

  it.each([
    [['otp'], /AMOUNT is missing/],
    [['otp', 'abc'], /not an amount above 0/],
    [['otp', '0'], /not an amount above 0/],
    [['otp', '5', '--by', 'soon'], /--by soon is not a date/],
    [['otp', '5', '--by', '2020-01-01'], /must arrive within 366 days from now/],
    [['otto', '5'], /no account "otto"\n {2}there are: otp/],
    [['otp', '5', '--cancel', 'x-1'], /--cancel takes no account/],
  ])('refuses %j as bad usage', async (words, reason) => {
    expect(await run('expect', ...words)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(reason),
    });
  });

  it('without a daemon what was ordered is checked, listed at once, and in force after the next start', async () => {
    await daemon.stop();
    expect(await run('expect', 'otp', '5')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('leadTime'),
    });
    expect((await run('expect', 'otp', '5', '--by', '2020-01-01', '--balance', 'gold')).code).toBe(2);
    const day = new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 10);
    expect((await run('expect', 'otp', '80', '--by', day, '--balance', 'gold')).code).toBe(2);
    expect((await run('expect', 'otp', '80', '--by', day)).stdout).toContain('the order is in the database');
    expect((await run('silence', 'add', '--account', 'otp', '--for', '1h')).code).toBe(0);
    expect((await run('silence', 'list')).stdout).toContain('account otp');
    const [left] = await listed();
    expect(left).toMatchObject({ amount: '80', orderedBy: 'tester' });
    daemon = await bed.start();
    await eventually('the daemon took it', async () => {
      return JSON.stringify(await daemon.get('/api/v1/expected-top-ups')).includes(left.id);
    });
    expect((await run('expect', '--cancel', left.id)).code).toBe(0);
  });
});

describe('lowwater status --line', () => {
  it('is one line that names the worst state', async () => {
    expect((await run('status', '--line')).stdout).toMatch(
      /^(?:OK|UNKNOWN|INFO|WARNING|CRITICAL) 1 account, [^\n]*\n$/,
    );
  });

  it('is not OK while lowwater itself has a problem', async () => {
    const line = async () => (await run('status', '--line')).stdout;
    expect(await line()).toMatch(/^OK /);
    writeFileSync(bed.configFile, readFileSync(bed.configFile, 'utf8').replace('{', '{"nonsense": 1,'));
    await eventually('it says so', async () => (await line()).includes('lowwater has a problem, 1 account'));
    expect(await line()).toMatch(/^UNKNOWN /);
    for (const words of [['status'], ['alerts'], ['check'], ['history', 'otp']])
      expect((await run(...words)).stderr).toMatch(/^warning: config-invalid: /m);
  });
});
