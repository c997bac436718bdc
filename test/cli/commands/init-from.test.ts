import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { placeholder } from '../../config/sample.ts';
import { runCli } from '../../support/cli.ts';
import { mountSmallDisk } from '../../support/small-disk.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lowwater-sheet-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const header = 'id,name,provider,url,credentials,currency,labels,thresholds';
const good = [
  'otp,OTP production,,https://api.example.com,env:OTP_KEY,CNY,team=identity,warning=200 critical=50',
  'us-1,"US, first",twilio,,accountSid=env:US_SID authToken=file:/run/secrets/us,USD,team=growth; env=prod,warning=80',
  'us-2,US second,twilio,,accountSid=env:US_SID authToken=env:US_TOKEN,USD,team=growth,',
];

async function init(lines: readonly string[], ...words: readonly string[]) {
  writeFileSync(join(folder, 'accounts.csv'), `${[header, ...lines].join('\r\n')}\r\n`);
  const channels = ['identity', 'growth'].flatMap((name) => [
    '--channel',
    `${name}=https://hooks.slack.com/services/T0/B0/${name}`,
  ]);
  return runCli(['init', '--from', 'accounts.csv', ...channels, ...words], { cwd: folder });
}

it('leaves nothing on a disk that has no room for all of it, so that it may be asked again', async (context) => {
  const disk = mountSmallDisk(mkdtempSync(join(tmpdir(), 'lowwater-full-')), 'size=1m');
  if (disk === null) return context.skip('only root can mount a small file system');
  onTestFinished(() => {
    disk.unmount();
    rmSync(disk.path, { recursive: true });
  });
  // Enough for the lists, and not for the configuration.
  for (const rooms of [0, 1, 2]) {
    disk.leave(rooms * 4096);
    const { code, stderr } = await init(good, '--config', join(disk.path, 'config.json'));
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `lowwater: ${disk.path} cannot be written to: ENOSPC\n`,
    });
    expect(readdirSync(disk.path)).toEqual(['filler']);
  }
  disk.free();
  expect(await init(good, '--config', join(disk.path, 'config.json'))).toMatchObject({ code: 0 });
});

const read = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8'));

it('writes a list of accounts for each provider and a configuration that validates, and says what it took', async () => {
  const { code, stdout, stderr } = await init(good, '--route-by', 'team');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain(
    '3 accounts taken from accounts.csv, 2 of them with thresholds of their own: accounts.d/ has account-service.json 1, twilio.json 2.',
  );
  expect(statSync(join(folder, 'accounts.d/twilio.json')).mode & 0o777).toBe(0o600);
  expect(read('accounts.d/twilio.json')[0]).toEqual({
    ...{ id: 'us-1', name: 'US, first', currency: 'USD', provider: 'twilio' },
    credentials: { accountSid: placeholder('env:US_SID'), authToken: placeholder('file:/run/secrets/us') },
    labels: { team: 'growth', env: 'prod' },
    thresholds: { main: { warning: 80 } },
  });
  expect(read('config.json')).toMatchObject({
    providers: { twilio: { type: 'twilio' } },
    rules: [{ type: 'below', thresholds: { warning: 80, critical: 50 } }, { type: 'runway' }],
    routes: [
      { match: { labels: { team: 'identity' } }, channels: ['identity'] },
      { match: { labels: { team: 'growth' } }, channels: ['growth'] },
      { channels: ['identity', 'growth'] },
    ],
  });
  writeFileSync(join(folder, 'us'), 'a token');
  const file = join(folder, 'accounts.d/twilio.json');
  writeFileSync(file, readFileSync(file, 'utf8').replace('/run/secrets/us', join(folder, 'us')));
  Object.assign(process.env, { OTP_KEY: 'k', US_SID: `AC${'0'.repeat(32)}`, US_TOKEN: 't' });
  expect(await runCli(['validate'], { cwd: folder })).toMatchObject({ code: 0, stderr: '' });
});

it.each([
  {
    what: 'no kind of provider',
    line: 'a,,twilo,,env:A,,,',
    said: 'provider: is no kind of provider: did you mean "twilio"?',
  },
  {
    what: 'a kind whose accounts need more than a line',
    line: 'a,,pushed,,,,,',
    said: 'provider: cannot stand in a table: docs/configuration.md says what to write for "pushed"',
  },
  { what: 'no address', line: 'a,,,,env:A,,,', said: 'url: is needed: its base address' },
  {
    what: 'a credential that is missing',
    line: 'a,,twilio,,accountSid=env:A,,,',
    said: 'credentials: lacks authToken',
  },
  {
    what: 'thresholds of no severity',
    line: 'a,,,https://x.example,env:A,,,warn=5',
    said: 'thresholds: must be such as',
  },
  {
    what: 'what the configuration refuses',
    line: 'OTP!,,,https://x.example,env:A,,team=identity,',
    said: 'id: ',
  },
  { what: 'two accounts of one id', line: good[0] ?? '', said: 'id: line 2 has this id already' },
  {
    what: 'a label that stands there twice',
    line: 'a,,,https://x.example,env:A,,team=identity team=growth,',
    said: 'labels: names something twice',
  },
  {
    what: 'thresholds that rise',
    line: 'a,,,https://x.example,env:A,,team=identity,warning=9 critical=20',
    said: 'thresholds: must fall from info to critical',
  },
  {
    what: 'thresholds that rise with what other lines say',
    line: 'a,,,https://x.example,env:A,,team=identity,warning=9',
    said: 'thresholds: must fall from info to critical; what it leaves out is warning=9 critical=50 here',
  },
  {
    what: 'an address that is none',
    line: 'a,,twilio,api.example.com,accountSid=env:A authToken=env:B,,team=identity,',
    said: 'url: must start with https:// or http://',
  },
  {
    what: 'a name that no variable can have',
    line: 'a,,,https://x.example,env:OTP KEY,,team=identity,',
    said: 'credentials: must name where each key is, as env:NAME',
  },
  {
    what: 'a team without a channel',
    line: 'a,,,https://x.example,env:A,,team=ops,',
    said: 'labels: no --channel is called "ops"',
  },
])('refuses $what by line and column, and writes nothing', async ({ line, said }) => {
  const { code, stderr } = await init([good[0] ?? '', line], '--route-by', 'team');
  expect(code).toBe(2);
  expect(stderr).toContain(`accounts.csv:3: ${said}`);
  expect(existsSync(join(folder, 'config.json')) || existsSync(join(folder, 'accounts.d'))).toBe(false);
});

it.each([
  {
    what: 'a cell too many, such as the thousands of a threshold',
    text: `${header}\na,,,https://x.example,env:A,,,warning=1,000\n`,
    said: 'line 2: has more cells than the first line',
  },
  { what: 'a column that stands there twice', text: 'id,credentials,id\na,env:A,b\n', said: '"id" stands' },
  {
    what: 'a file that is not UTF-8',
    text: Buffer.from('id,name,credentials\na,Caf\xe9,env:A\n', 'latin1'),
    said: 'accounts.csv is not UTF-8',
  },
])('refuses $what', async ({ text, said }) => {
  writeFileSync(join(folder, 'accounts.csv'), text);
  const words = ['--from', 'accounts.csv', '--channel', 'https://x.example/hook'];
  const { code, stderr } = await runCli(['init', ...words], { cwd: folder });
  expect(code).toBe(1);
  expect(stderr).toContain(said);
});

it.each(['url', 'provider', 'key', 'credential', 'account'])(
  'refuses --%s beside a table, whose lines say it, rather than leave it unused',
  async (name) => {
    const { code, stderr } = await init([], `--${name}`, 'x=y');
    expect(code).toBe(2);
    expect(stderr).toContain(`--${name} cannot be used with --from`);
  },
);

it('reads semicolons between the cells, and writes a placeholder in a name as the text that it is', async () => {
  const lines = [
    '\uFEFFid;name;url;credentials;thresholds',
    `a;"${placeholder('env:A')}; x";https://x.example;env:A;warning=9`,
  ];
  writeFileSync(join(folder, 'accounts.csv'), `${lines.join('\r\n')}\r\n`);
  const words = [
    '--from',
    'accounts.csv',
    '--channel',
    'https://x.example/hook',
    '--channel-type',
    'webhook',
  ];
  expect((await runCli(['init', ...words], { cwd: folder })).stderr).toBe('');
  expect(read('accounts.d/account-service.json')).toMatchObject([
    { name: `$${placeholder('env:A')}; x`, thresholds: { sms: { warning: 9 } } },
  ]);
});

it('refuses a key that stands in the table, and does not show it', async () => {
  const { code, stderr } = await init(['a,,,https://x.example,s3cret-key,,,', 'b,,twilio,,s3cret-key,,,']);
  expect(code).toBe(2);
  expect(stderr).toMatch(/accounts\.csv:2: credentials: must name where each key is/);
  expect(stderr).not.toContain('s3cret');
});

it('takes the kind of channel that is named where the address is of a server of one’s own', async () => {
  writeFileSync(join(folder, 'accounts.csv'), `${header}\n${good[0]}\n`);
  const words = ['--channel', 'https://chat.example.com/hooks/x', '--channel-type', 'mattermost'];
  expect(await runCli(['init', '--from', 'accounts.csv', ...words], { cwd: folder })).toMatchObject({
    code: 0,
  });
  expect(read('config.json').channels).toEqual({
    main: { type: 'mattermost', webhookUrl: 'https://chat.example.com/hooks/x' },
  });
});

it('reads a table whose columns are separated by semicolons, as spreadsheets write where the comma is the decimal sign', async () => {
  const rows = [
    'id;provider;credentials;currency;labels;name',
    'us-2;twilio;accountSid=env:US_SID authToken=env:US_TOKEN;USD;team=growth;"Semi; colon, comma"',
  ];
  writeFileSync(join(folder, 'table.csv'), `\uFEFF${rows.join('\r\n')}\r\n`);
  const channel = 'ops=https://hooks.slack.com/services/T0/B0/x';
  const words = ['init', '--from', 'table.csv', '--channel', channel];
  expect(await runCli(words, { cwd: folder })).toMatchObject({ code: 0, stderr: '' });
  expect(read('accounts.d/twilio.json')[0]).toMatchObject({ id: 'us-2', name: 'Semi; colon, comma' });
});

it('says of a table that is not there that it is not there', async () => {
  const { code, stderr } = await runCli(['init', '--from', 'no.csv', '--channel', 'https://x.example/hook'], {
    cwd: folder,
  });
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringContaining('no.csv: there is no such file'),
  });
});

it('refuses a column that it does not know, and a folder that is there', async () => {
  writeFileSync(join(folder, 'accounts.csv'), 'id,credentials,colour\n');
  const asked = () =>
    runCli(['init', '--from', 'accounts.csv', '--channel', 'https://x.example/hook'], { cwd: folder });
  expect((await asked()).stderr).toMatch(/line 1: "colour" is no column: there are id, /);
  for (const key of ['sk-live-4711', 'qRtZwKpLmNbVcXyD']) {
    writeFileSync(join(folder, 'accounts.csv'), `id,${key}\n`);
    expect((await asked()).stderr).toMatch(/line 1: cell 2 is no column: there are id, /);
  }
  expect((await init(good)).code).toBe(0);
  rmSync(join(folder, 'config.json'));
  expect((await init(good)).stderr).toMatch(/accounts\.d exists; init never writes over a file/);
});

it('reads a cell of several lines as one, and warns in time to pay where each account says how long that takes', async () => {
  const rows = [
    'id,credentials,url,note,leadTime',
    'a,env:A,https://x.example," ask\r\nAna\u00a0 first ",2d',
    'b,env:A,https://x.example,,3d',
  ];
  writeFileSync(join(folder, 'table.csv'), rows.join('\r\n'));
  const words = ['init', '--from', 'table.csv', '--channel', 'ops=https://hooks.slack.com/services/T0/B0/x'];
  expect(await runCli(words, { cwd: folder })).toMatchObject({ code: 0, stderr: '' });
  expect(read('accounts.d/account-service.json')[0]).toMatchObject({ note: 'ask Ana first' });
  expect(read('config.json').rules).toContainEqual(
    expect.objectContaining({ type: 'runway', thresholds: { warning: '7d', critical: 'leadTime + 1d' } }),
  );
});

it('says what is wrong in every line once and on one screen', async () => {
  const { stderr } = await init(
    Array.from({ length: 90 }, (_, index) => `a${index},,,https://x.example,env:A,,,warning=1.500`),
  );
  const lines = stderr.split('\n');
  expect(lines[1]).toBe(
    'accounts.csv:2: thresholds: must be such as "warning=1500 critical=50.5", of "info", "warning" or "critical", with no separator of thousands',
  );
  expect(lines[21]).toBe('and 70 more');
});

it('writes an entry for each address of a provider whose customers have one each', async () => {
  const rows = [
    'id,provider,credentials,url',
    ...['x', 'y', 'x'].map((host, index) => `a${index},infobip,env:A,https://${host}.api.infobip.com`),
  ];
  writeFileSync(join(folder, 'table.csv'), rows.join('\n'));
  const words = ['init', '--from', 'table.csv', '--channel', 'ops=https://hooks.slack.com/services/T0/B0/x'];
  expect(await runCli(words, { cwd: folder })).toMatchObject({ code: 0, stderr: '' });
  expect(read('config.json').providers).toEqual({
    infobip: { type: 'infobip', baseUrl: 'https://x.api.infobip.com' },
    'infobip-2': { type: 'infobip', baseUrl: 'https://y.api.infobip.com' },
  });
  const used = read('accounts.d/infobip.json').map(({ provider }: { provider: string }) => provider);
  expect(used).toEqual(['infobip', 'infobip-2', 'infobip']);
});
