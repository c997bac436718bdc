import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withoutOptions } from '../../../src/cli/commands/mcp.ts';
import { runBuilt, startBuilt } from '../../support/built-program.ts';
import { runCli } from '../../support/cli.ts';
import { makeDocumentedHouse } from '../../support/documented-house.ts';
import { eventually } from '../../support/eventually.ts';

let folder: string;
beforeAll(async () => {
  folder = await makeDocumentedHouse();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const query = (...words: string[]) => runCli(['query', ...words], { cwd: folder });
const values =
  "SELECT 1 AS n, 'a,b' AS text, NULL AS none, x'0aff' AS bytes UNION ALL VALUES (-2.5, '=1+1', 'é', NULL)";
/** Rows without end. */
const endless = 'WITH RECURSIVE step (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM step) SELECT';

describe('lowwater query', () => {
  it('prints a table, with numbers on the right', async () => {
    expect(await query(values)).toEqual({
      code: 0,
      stdout: "   n  text  none  bytes\n   1  a,b         x'0aff'\n-2.5  =1+1  é\n",
      stderr: '',
    });
  });

  it('prints CSV, in which nothing is a formula', async () => {
    const { stdout } = await query('--csv', values);
    expect(stdout).toBe("n,text,none,bytes\r\n1,\"a,b\",,x'0aff'\r\n-2.5,'=1+1,é,\r\n");
  });

  it('prints JSON, with null for what is not there', async () => {
    const { stdout } = await query('--json', values);
    expect(JSON.parse(stdout)).toEqual([
      { n: 1, text: 'a,b', none: null, bytes: "x'0aff'" },
      { n: -2.5, text: '=1+1', none: 'é', bytes: null },
    ]);
  });

  it.each([
    ['--csv', 'n\r\n'],
    ['--json', '[]\n'],
  ])('prints with %s that there is nothing', async (format, stdout) => {
    expect(await query(format, 'SELECT 1 AS n WHERE 0')).toMatchObject({ code: 0, stdout });
  });

  it('prints all of many rows as CSV and JSON, and says where a table ends early', async () => {
    const many = `${endless} n FROM step LIMIT 25000`;
    expect((await query('--csv', many)).stdout.split('\r\n')).toHaveLength(25_002);
    expect(JSON.parse((await query('--json', many)).stdout)).toHaveLength(25_000);
    const { stdout, stderr } = await query(many);
    expect(stdout.split('\n')).toHaveLength(10_002);
    expect(stderr).toMatch(/first 10000 rows/);
  });

  it.each([
    [['DELETE FROM account'], /only read-only statements are allowed/],
    [['SELECT nothing_such FROM account'], /no such column/],
    [['--json', 'SELECT 1 AS n, 2 AS n'], /two columns are called n/],
    [['--json', '--csv', 'SELECT 1'], /either --csv or --json/],
    [['--timeout', '2d', 'SELECT 1'], /at most 1d/],
  ])('refuses %j as bad usage', async (words, reason) => {
    expect(await query(...words)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(reason),
    });
  });

  it('gives integers of 64 bits digit by digit', async () => {
    const sql = 'SELECT 9223372036854775807 AS most, -9007199254740993 AS odd, 9007199254740991 AS safe';
    expect((await query('--json', sql)).stdout).toContain(
      '{"most":9223372036854775807,"odd":-9007199254740993,"safe":9007199254740991}',
    );
    expect((await query('--csv', sql)).stdout).toContain(
      '9223372036854775807,-9007199254740993,9007199254740991',
    );
    expect((await query(sql)).stdout).toContain('9223372036854775807');
  });

  it.each([
    ['by itself', []],
    ['after --config FILE', ['--config', 'config.json']],
    ['after --config=FILE', ['--config=config.json']],
  ])('is ended when it takes too long, wherever it is: %s', async (_where, before) => {
    const words = [...before, 'query', '--timeout', '1s', `${endless} count(*) FROM step`];
    const ended = await runBuilt(words, { cwd: folder });
    expect(ended).toMatchObject({
      code: 1,
      signal: null,
      stdout: '',
      stderr: expect.stringMatching(/longer than 1s/),
    });
    // An assistant has no option that it could raise.
    expect(withoutOptions(ended.stderr)).toMatch(/longer than 1s .*: ask for less, by account and time$/);
  });

  it('is ended when it takes too long also where nobody reads why', async () => {
    const words = ['query', '--timeout', '1s', `${endless} count(*) FROM step`];
    const { child, ended } = startBuilt(words, { cwd: folder });
    child.stderr?.destroy();
    expect(await ended).toMatchObject({ code: 1, signal: null });
  });

  it('says by what it was ended where the system ends it, as for want of memory', async () => {
    const { child, ended } = startBuilt(['query', `${endless} count(*) FROM step`], { cwd: folder });
    const working = await eventually('it works', () => {
      const { stdout } = spawnSync('pgrep', ['-P', String(child.pid)], { encoding: 'utf8' });
      return stdout === '' ? false : Number(stdout);
    });
    process.kill(working, 'SIGKILL');
    expect(await ended).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'lowwater: the query was ended by SIGKILL: it may need more memory than there is\n',
    });
  });
});
