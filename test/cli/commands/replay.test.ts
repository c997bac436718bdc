import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/system/clock.ts';
import { minuteMs, units } from '../../support/account-facts.ts';
import { runBuilt, startBuilt } from '../../support/built-program.ts';
import { loadFile, runCli } from '../../support/cli.ts';
import { type SeedPoll, seedDatabase } from '../../support/seed-database.ts';

let folder: string;

const config = {
  provider: { baseUrl: 'https://api.example.com' },
  accounts: [
    { id: 'otp', name: 'OTP production', authSecret: 'key-of-the-otp-account', currency: 'CNY' },
    { id: 'marketing', authSecret: 'key-of-the-marketing-account', currency: 'CNY' },
  ],
  rules: [
    { id: 'sms-low', type: 'below', thresholds: { warning: 200, critical: 50 }, hysteresis: '10%' },
    { id: 'paid', type: 'top-up', atLeast: 100 },
  ],
  channels: { ops: { type: 'slack', webhookUrl: 'https://hooks.slack.com/services/T0001/B0001/secret' } },
  // Not asked: on this machine another daemon may listen where one does by default.
  server: null,
};

/** Two days, five minutes apart: `otp` falls from 300 to 0 in a day and is topped up; `marketing` stays. */
function makePolls(): SeedPoll[] {
  const count = 576;
  const start = Math.floor(systemClock.now() / minuteMs) * minuteMs - count * 5 * minuteMs;
  return Array.from({ length: count }, (_, index): SeedPoll[] => {
    const at = start + index * 5 * minuteMs;
    const sms = index < 300 ? 300 - index : 900;
    return [
      { account: 'otp', at, answer: { sms: units(sms), voip: units(10) } },
      { account: 'marketing', at: at + 1, answer: { sms: units(700), voip: 0 } },
    ];
  }).flat();
}

const polls = makePolls();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lowwater-replay-'));
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  const loaded = await loadFile(join(folder, 'config.json'));
  seedDatabase(loaded.settings.storage.path ?? '', loaded.settings, polls);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('ends well for a reader that went away, as other commands do', async () => {
  for (const words of [
    ['--since', '30d'],
    ['--forecasts', '--json'],
  ]) {
    const replay = startBuilt(['replay', '--config', join(folder, 'config.json'), ...words]);
    replay.child.stdout?.destroy();
    expect(await replay.ended).toMatchObject({ code: 0, stderr: '' });
  }
});

interface ReplayAnswer {
  readonly incidents: readonly Record<string, unknown>[];
  readonly messages: number;
}

const parse = (text: string): ReplayAnswer => JSON.parse(text) as ReplayAnswer;

describe('lowwater replay of accounts with other balances', () => {
  const pushed = { type: 'pushed', balances: [{ id: 'main' }, { id: 'bonus' }] };
  const moved = {
    ...config,
    providers: { wallet: pushed },
    accounts: [config.accounts[0], { id: 'marketing', provider: 'wallet' }],
    rules: [{ id: 'low', type: 'below', threshold: 100 }],
  };

  it('leaves out what an account was read as before it moved to a provider with other balances', async () => {
    writeFileSync(join(folder, 'moved.json'), JSON.stringify(moved));
    const words = ['replay', '--since', '7d', '--config', 'moved.json', '--json'];
    const { code, stdout, stderr } = await runCli(words, { cwd: folder });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const fired = parse(stdout).incidents.map(({ account, rule }) => `${account} ${rule}`);
    expect(fired).toContain('otp low');
    expect(fired.filter((name) => name.startsWith('marketing'))).toEqual([]);
  });

  it('says how much of an export is left out because the account had other balances then', async () => {
    writeFileSync(join(folder, 'moved.json'), JSON.stringify(moved));
    const words = ['history', 'marketing', '--since', '7d', '--config', 'moved.json', '--csv'];
    writeFileSync(join(folder, 'moved.csv'), (await runCli(words, { cwd: folder })).stdout);
    const input = ['--input', 'moved.csv', '--account', 'marketing', '--json'];
    const { code, stdout, stderr } = await runCli(['replay', '--config', 'moved.json', ...input], {
      cwd: folder,
    });
    expect({ code, incidents: parse(stdout).incidents }).toEqual({ code: 0, incidents: [] });
    expect(stderr).toContain('576 readings of marketing without a balance that it has now; left out');
  });

  it('asks a line of a file for the balances of its own account, and for no others', async () => {
    writeFileSync(join(folder, 'moved.json'), JSON.stringify(moved));
    const replay = (rows: readonly string[], ...words: string[]) => {
      writeFileSync(join(folder, 'moved.csv'), rows.join('\n'));
      return runCli(['replay', '--config', 'moved.json', '--input', 'moved.csv', ...words], { cwd: folder });
    };
    const at = '2026-11-20T12:00:00Z';
    const header = 'at,account,currency,sms,voip,main,bonus';
    const rows = [header, `${at},otp,CNY,1,2,,`, `${at},marketing,EUR,9,,3,4`];
    expect(await replay(rows)).toMatchObject({ code: 0, stderr: '' });
    const lacking = await replay([...rows, `${at},marketing,EUR,,,3,`]);
    expect(lacking).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('1 reading of marketing without a balance that it has now; left out'),
    });
    const nameless = await replay(['at,main,currency', `${at},3,EUR`], '--account', 'marketing');
    expect(nameless).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the column "bonus" is missing'),
    });
  });
});

describe('lowwater replay of an account whose credit limit its provider says', () => {
  it('takes the balance for empty where that credit is used up', async () => {
    const line = {
      type: 'http-json',
      request: { url: 'https://line.example.com/balance' },
      balances: [{ id: 'sms', amount: '$.balance' }],
      currency: { fixed: 'CNY' },
      facts: { creditLimit: { amount: '$.credit', included: false } },
    };
    const runway = { id: 'run', type: 'runway', thresholds: { warning: '12h' } };
    const owed = { id: 'owed', type: 'negative', severity: 'warning' };
    const on = {
      ...config,
      providers: { line },
      accounts: [{ id: 'line', provider: 'line', creditLimit: 'provider' }],
      rules: [runway, owed],
      storage: { path: 'line.db' },
    };
    writeFileSync(join(folder, 'line.json'), JSON.stringify(on));
    const { settings } = await loadFile(join(folder, 'line.json'));
    const start = systemClock.now() - 576 * 5 * minuteMs;
    const facts = { creditLimitMicros: units(400) };
    const polls = Array.from({ length: 576 }, (_, index): SeedPoll => {
      return {
        account: 'line',
        at: start + index * 5 * minuteMs,
        answer: { sms: units(200 - index) },
        facts,
      };
    });
    seedDatabase(settings.storage.path ?? '', settings, polls);
    const words = ['--config', 'line.json', '--json'];
    const { incidents } = parse((await runCli(['replay', ...words], { cwd: folder })).stdout);
    const index = (at: unknown) => Math.round((Date.parse(String(at)) - start) / (5 * minuteMs));
    // Of 600 that there are 144 go in twelve hours.
    expect(incidents.map(({ rule, severity, firedAt }) => [rule, severity, index(firedAt)])).toEqual([
      ['owed', 'warning', 201],
      ['run', 'warning', 457],
    ]);
    const { forecasts } = JSON.parse(
      (await runCli(['replay', '--forecasts', ...words], { cwd: folder })).stdout,
    ) as { forecasts: Record<string, string>[] };
    expect(index(forecasts.at(-1)?.emptyAt)).toBeCloseTo(600, -1);
  });
});

describe('lowwater replay --compare', () => {
  const against = (old: string, ...words: string[]) =>
    runCli(['replay', '--since', '7d', '--config', 'new.json', '--compare', old, ...words], { cwd: folder });

  it('refuses an account that the other configuration does not have', async () => {
    writeFileSync(join(folder, 'new.json'), JSON.stringify(config));
    const old = { ...config, accounts: config.accounts.slice(0, 1) };
    writeFileSync(join(folder, 'old.json'), JSON.stringify(old));
    const { code, stderr } = await against('old.json', '--account', 'marketing');
    expect(code).toBe(1);
    expect(stderr).toContain('the configuration to compare with has no account "marketing"');
  });

  it('names what would be new, gone, earlier, later or of another severity, by account, and the messages of each channel', async () => {
    const rules = [
      { id: 'low', type: 'below', thresholds: { warning: 250 }, match: { account: 'otp' } },
      { id: 'marketing-low', type: 'below', thresholds: { warning: 800 }, match: { account: 'marketing' } },
    ];
    writeFileSync(join(folder, 'new.json'), JSON.stringify({ ...config, rules }));
    const { code, stdout, stderr } = await against('config.json', '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { changes, same, messages } = JSON.parse(stdout);
    expect(changes).toMatchObject([
      { change: 'new', account: 'marketing', before: null, after: { rule: 'marketing-low' } },
      {
        ...{ change: 'earlier', account: 'otp' },
        before: { rule: 'sms-low', severity: 'critical' },
        after: { rule: 'low', severity: 'warning' },
      },
      { change: 'gone', account: 'otp', before: { rule: 'paid' }, after: null },
    ]);
    expect(same).toBe(0);
    expect(messages).toEqual([{ channel: 'ops', before: expect.any(Number), after: expect.any(Number) }]);
    const text = (await against('config.json')).stdout;
    expect(text).toMatch(/otp +earlier by 4 hours 10 minutes +sms-low → low +critical → warning/);
    expect(text).toMatch(
      /1 new, 1 earlier, 1 gone, at 2 accounts; 0 alerts as before\.\nMessages, before → after:\n {2}ops: \d+ → \d+\n$/,
    );
  });

  it('says that nothing would change, and what is missing where no daemon has the file in force', async () => {
    writeFileSync(join(folder, 'new.json'), JSON.stringify(config));
    const same = await against('config.json');
    // Where no usual file lies, the daemon is looked for by the file that is named.
    const elsewhere = mkdtempSync(join(tmpdir(), 'lowwater-replay-'));
    const named = ['--config', join(folder, 'new.json'), '--compare', 'running'];
    const alone = await runCli(['replay', ...named], { cwd: elsewhere });
    rmSync(elsewhere, { recursive: true });
    expect(alone.code).toBe(1);
    expect(alone.stderr).toMatch(/no daemon answers that runs \S*new\.json as it is now: name the file/);
    expect(same.stdout).toMatch(/^Nothing would change: \d+ alerts as before\./);
    const { code, stderr } = await against('running');
    expect(code).toBe(1);
    expect(stderr).toMatch(/no daemon answers that runs .*config\.json as it is now: name the file/);
  });
});

describe('lowwater replay', () => {
  it('says what the stored history would have brought, and writes nothing', async () => {
    const before = readFileSync(join(folder, 'lowwater.db'));
    const { code, stdout, stderr } = await runBuilt(['replay', '--since', '7d', '--json'], {
      cwd: folder,
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { incidents, messages } = parse(stdout);
    const start = polls[0]?.at ?? 0;
    const sinceStart = (at: unknown) => Math.round((Date.parse(String(at)) - start) / (5 * minuteMs));
    expect(
      incidents.map((it) => [it.account, it.rule, it.severity, sinceStart(it.firedAt), it.value]),
    ).toEqual([
      ['otp', 'sms-low', 'critical', 101, '199'],
      ['otp', 'paid', 'info', 300, '899'],
    ]);
    expect(incidents.map((it) => [it.resolvedAt !== null, it.emptyBy])).toEqual([
      [true, 'projected'],
      [false, null],
    ]);
    expect(messages).toBeGreaterThan(2);
    expect(readFileSync(join(folder, 'lowwater.db')).equals(before)).toBe(true);
  });

  it('foretells at each reading when the balance is empty, and says how good that was', async () => {
    const words = ['replay', '--account', 'otp', '--forecasts'];
    const { code, stdout } = await runBuilt([...words, '--json'], { cwd: folder });
    const { forecasts } = JSON.parse(stdout) as { forecasts: Record<string, string | null>[] };
    expect(code).toBe(0);
    expect(forecasts).toHaveLength(576);
    expect(new Set(forecasts.map((it) => `${it.account} ${it.balance}`))).toEqual(new Set(['otp sms']));
    // At the 250th reading 50 are left, of which one goes every five minutes.
    const { at, emptyAt, earliest, latest } = forecasts[250] ?? {};
    const hours = (Date.parse(String(emptyAt)) - Date.parse(String(at))) / 3_600_000;
    expect(hours).toBeCloseTo(50 / 12, 1);
    expect(String(earliest) < String(emptyAt) && String(emptyAt) < String(latest)).toBe(true);
    expect((await runCli(words, { cwd: folder })).stdout).toMatch(
      /No forecast can be held against what came yet/,
    );
  });

  it('finds the same in an export of the history, from a file and from standard input', async () => {
    const stored = parse((await runCli(['replay', '--account', 'otp', '--json'], { cwd: folder })).stdout);
    const csv = (await runCli(['history', 'otp', '--since', '7d', '--csv'], { cwd: folder })).stdout;
    writeFileSync(join(folder, 'otp.csv'), csv);
    const words = ['replay', '--account', 'otp', '--json', '--input'];
    const given = parse((await runCli([...words, 'otp.csv'], { cwd: folder })).stdout);
    expect(given.incidents).toEqual(stored.incidents);
    expect(given.incidents).toHaveLength(2);
    const piped = await runBuilt([...words, '-'], { cwd: folder, input: csv });
    expect(piped).toMatchObject({ code: 0, stdout: `${JSON.stringify(given)}\n`, stderr: '' });
  });

  it('says that readings of a file share an instant, and replays all of them', async () => {
    const at = '2026-11-20T08:00:00Z';
    const lines = ['at,sms,voip,currency', `${at},300,0,CNY`, `${at},1,0,CNY`, `${at},300,0,CNY`];
    writeFileSync(join(folder, 'twice.csv'), lines.join('\n'));
    const words = ['replay', '--account', 'otp', '--json', '--input', 'twice.csv'];
    const { code, stdout, stderr } = await runCli(words, { cwd: folder });
    expect(stderr).toMatch(/twice\.csv: 2 readings of otp with the time of another one; all are replayed/);
    // Only the second of the three is low.
    expect({ code, isFound: /"rule":"sms-low"/.test(stdout) }).toEqual({ code: 0, isFound: true });
  });

  it('takes no gaps from lines that exports which overlap have twice', async () => {
    const csv = (await runCli(['history', 'otp', '--since', '7d', '--csv'], { cwd: folder })).stdout;
    const [header = '', ...rows] = csv.trim().split('\n');
    const hourly = [header, ...rows.filter((_, index) => index % 12 === 0)];
    const replayOf = async (lines: readonly string[]) => {
      writeFileSync(join(folder, 'hourly.csv'), lines.join('\n'));
      const words = ['replay', '--account', 'otp', '--json', '--input', 'hourly.csv'];
      return parse((await runCli(words, { cwd: folder })).stdout);
    };
    expect(hourly.length).toBeGreaterThan(40);
    expect(await replayOf([...hourly, ...hourly.slice(1)])).toEqual(await replayOf(hourly));
  });

  it('tries other rules on the same past', async () => {
    const { rules: _, ...rest } = config;
    writeFileSync(join(folder, 'bare.json'), JSON.stringify({ ...rest, storage: { path: 'lowwater.db' } }));
    const { code, stdout } = await runCli(['replay', '--config', 'bare.json', '--json'], { cwd: folder });
    expect({ code, stdout: parse(stdout) }).toEqual({ code: 0, stdout: { incidents: [], messages: 0 } });
  });

  it('shows people every incident, how long before empty it came, and how many messages', async () => {
    const { stdout } = await runCli(['replay', '--since', '7d'], { cwd: folder });
    expect(stdout).toMatch(/^Replay of 1 day 23 hours, .*: 1152 polls of 2 accounts/);
    expect(stdout).toMatch(/sms-low +critical +16h 35m .* 199\.00 CNY +16h 35m \(projected\)/);
    expect(stdout).toMatch(/marketing: no incident/);
    expect(stdout).toMatch(/\d+ messages \(ops \d+\)/);
  });

  it('says of whom no poll brought a reading', async () => {
    const accounts = [...config.accounts, { id: 'dark', authSecret: 'key-of-the-dark-account' }];
    const path = join(folder, 'dark.json');
    writeFileSync(path, JSON.stringify({ ...config, accounts, storage: { path: 'dark.db' } }));
    const loaded = await loadFile(path);
    const dark = makePolls().map(
      (poll): SeedPoll =>
        poll.account === 'otp' ? poll : { account: 'dark', at: poll.at, answer: 'timeout' },
    );
    seedDatabase(join(folder, 'dark.db'), loaded.settings, dark);
    const { stdout } = await runCli(['replay', '--config', 'dark.json', '--since', '7d'], { cwd: folder });
    expect(stdout).toMatch(/: 1152 polls of 2 accounts, 576 of them failed/);
    expect(stdout).toMatch(/^dark: 1 incident, but every poll failed/m);
    expect(stdout).toMatch(/^OTP production \(otp\): \d incidents$/m);
  });

  it('says of rules that warn a time ahead how long before empty they fired', async () => {
    const rules = [{ id: 'lasts', type: 'runway', within: '12h', lookback: '6h' }];
    const text = JSON.stringify({ ...config, rules, storage: { path: 'lowwater.db' } });
    writeFileSync(join(folder, 'lasts.json'), text);
    const words = ['replay', '--config', 'lasts.json', '--since', '7d'];
    const { stdout } = await runCli(words, { cwd: folder });
    expect(stdout).toMatch(/WARNED AHEAD +WITHIN +FIRED +BEFORE EMPTY/);
    // One goes every five minutes, and the history ends before the last one does.
    expect(stdout).toMatch(/lasts +12h +1 +not known +0 +1 +0 +0/);
  });

  it('tells each amount in the currency that the account was read in then', async () => {
    const at = (minute: number) => `2026-11-20T12:${String(minute).padStart(2, '0')}:00Z`;
    const rows = [`${at(0)},300,0,EUR`, `${at(5)},150,0,EUR`, `${at(10)},700,0,USD`, `${at(15)},850,0,USD`];
    writeFileSync(join(folder, 'moved.csv'), ['at,sms,voip,currency', ...rows, ''].join('\n'));
    const accounts = [{ id: 'otp', authSecret: 'key-of-the-otp-account' }];
    writeFileSync(join(folder, 'moved.json'), JSON.stringify({ ...config, accounts }));
    const words = ['replay', '--config', 'moved.json', '--input', 'moved.csv'];
    const { stdout } = await runCli(words, { cwd: folder });
    expect(stdout).toMatch(/sms-low .* 150\.00 EUR/);
    expect(stdout).toMatch(/paid .* 150\.00 USD/);
  });

  it.each([60, 100, 200])('draws a timeline that fits a terminal of %d columns', async (columns) => {
    const { stdout } = await runCli(['replay', '--since', '7d'], { cwd: folder, columns });
    const lines = stdout.split('\n').slice(1, -2);
    expect(Math.max(...lines.map((text) => [...text].length))).toBeLessThanOrEqual(columns);
    expect(stdout).toMatch(/sms-low │ +█+/);
    expect(stdout).toMatch(/paid │ +▲/);
    expect(stdout).toContain('SMS balance');
  });

  it('says when there is nothing to replay', async () => {
    const { code, stdout } = await runCli(['replay', '--since', '1m'], { cwd: folder });
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: 'No readings in that time: there is nothing to replay.\n',
    });
  });

  it.each<[name: string, words: readonly string[], code: number, problem: RegExp]>([
    ['a file that is not there', ['--input', 'nope.csv'], 1, /nope\.csv: there is no such file/],
    ['a folder', ['--input', '.'], 1, /is a folder, a CSV file is needed/],
    ['a file that is no CSV', ['--input', 'config.json'], 1, /config\.json: line 1: /],
    ['a file of no account', ['--input', 'otp.csv'], 1, /say whose it is with --account \(otp, marketing\)/],
    ['an unknown account', ['--account', 'opt'], 2, /no account "opt"\n {2}did you mean "otp"\?/],
    [
      'a time that is none',
      ['--since', 'yesterday'],
      2,
      /--since yesterday is neither a duration nor a date/,
    ],
  ])('refuses %s', async (_name, words, code, problem) => {
    writeFileSync(join(folder, 'otp.csv'), 'at,sms,voip,currency\n2026-11-20T12:00:00Z,1,1,CNY\n');
    const result = await runCli(['replay', ...words], { cwd: folder });
    expect(result.code).toBe(code);
    expect(result.stderr).toMatch(problem);
  });

  it('leaves no file behind', () => {
    const made = readdirSync(folder).filter((name) => !/\.(?:json|csv|db|db-\w+|lock)$/.test(name));
    expect(made).toEqual([]);
  });
});

describe('lowwater explain', () => {
  it('names the reading, every threshold and the nearest one that would not have fired', async () => {
    const low = { ...config, storage: { path: 'low.db' } };
    writeFileSync(join(folder, 'low.json'), JSON.stringify(low));
    const loaded = await loadFile(join(folder, 'low.json'));
    const otp = makePolls()
      .filter(({ account }) => account === 'otp')
      .slice(0, 260);
    const shift = systemClock.now() - (otp.at(-1)?.at ?? 0) - 20 * minuteMs;
    seedDatabase(
      loaded.settings.storage.path ?? '',
      loaded.settings,
      otp.map((poll) => ({ ...poll, at: poll.at + shift })),
    );
    const words = ['explain', 'otp', 'sms-low', '--config', 'low.json'];
    const text = (await runBuilt(words, { cwd: folder })).stdout;
    expect(text).toMatch(/^sms-low \(below\): breached, critical/);
    for (const line of [
      /balance +41\.00 CNY/,
      /previous balance +42\.00 CNY/,
      /critical below +50\.00 CNY/,
      /critical resolves at +55\.00 CNY/,
      /warning below +200\.00 CNY/,
      /alert +firing since .*\(14 hours ago\)/,
      /would not fire +It would not fire with a threshold of 41\.00 CNY or less\./,
    ])
      expect(text).toMatch(line);
    const fine = await runCli(['explain', 'otp', 'sms-negative', '--config', 'low.json'], { cwd: folder });
    expect(fine.stdout).toMatch(/^sms-negative \(negative, built in\): ok when last read$/m);
    const json = JSON.parse((await runCli([...words, '--json'], { cwd: folder })).stdout);
    expect(json).toMatchObject({
      account: 'otp',
      rules: [{ rule: 'sms-low', verdict: 'breached', severity: 'critical', value: '41', threshold: '50' }],
    });
  });
});
