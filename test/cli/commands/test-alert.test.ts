import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CliOptions, type CliResult, runCli } from '../../support/cli.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { type Bed, makeBed } from '../../support/run-daemon.ts';

let bed: Bed;

beforeAll(async () => {
  bed = await makeBed({
    config: {
      server: { port: await freePort() },
      routes: [{ match: { severity: 'critical' }, channels: ['ops'], groupWait: '0s' }],
    },
  });
});
afterAll(() => bed.close());

const run = (words: readonly string[], options: Partial<CliOptions> = {}): Promise<CliResult> =>
  runCli(['test-alert', ...words, '--config', bed.configFile], { cwd: bed.folder, ...options });

const texts = () => bed.slack.posts.map(({ text }) => text);

describe('lowwater test-alert', () => {
  it('without a daemon sends by itself, and ends at once what it began when it is interrupted', async () => {
    const interrupt = new AbortController();
    const asked = run(['otp', '--severity', 'critical'], { signal: interrupt.signal });
    await eventually('the channel has it', async () => texts().length === 1);
    interrupt.abort();
    const { code, stdout } = await asked;
    expect(code).toBe(0);
    expect(stdout).toMatch(/^TEST of otp \S+, critical:\n {2}ops: delivered\nIt resolves at /);
    expect(texts()[0]).toMatch(/TEST · .*unknown, below .* · CRITICAL/);
    expect(texts()[1]).toMatch(/TEST · .* · RESOLVED/);
  });

  it.each([
    [['otq'], /no account "otq".*did you mean "otp"/s],
    [['otp', '--severity', 'fatal'], /choose info, warning, critical/],
    [['otp', '--rule', 'sms-lwo'], /account "otp" has no rule "sms-lwo"; choose .*"sms-low"/],
  ])('refuses %j', async (words, said) => {
    const { code, stderr } = await run(words);
    expect(code).not.toBe(0);
    expect(stderr).toMatch(said);
  });

  it('is ordered of the daemon that runs, and says what the receiver said', async () => {
    const daemon = await bed.start();
    const { code, stdout } = await run(['otp', '--severity', 'critical', '--json', '--by', 'ada']);
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({
      ...{ code: 0, account: 'otp', severity: 'critical' },
      channels: [{ channel: 'ops', delivered: true, reason: null }],
    });
    const audit = await runCli(['audit', '--config', bed.configFile], { cwd: bed.folder });
    expect(audit.stdout).toMatch(/ada.*test-alert/);
    bed.slack.behave(() => ({ status: 404, body: 'no_service' }));
    const refused = await run(['otp', '--severity', 'critical']);
    expect(refused.code).toBe(1);
    expect(refused.stdout).toMatch(/ops: not delivered: .*no_service/);
    await daemon.stop();
  });
});
