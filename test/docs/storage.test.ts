import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../support/cli.ts';
import { makeDocumentedHouse } from '../support/documented-house.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/storage.md'), 'utf8');
const queries = [...page.matchAll(/^([A-Z][^\n]*):\n\n```sql\n(.*?)```/gms)].map(
  ([, title = '', sql = '']) => ({ title, sql }),
);

let folder: string;
beforeAll(async () => {
  folder = await makeDocumentedHouse();
});

describe('the page about what is stored', () => {
  it('has ten queries', () => {
    expect(queries).toHaveLength(10);
  });

  it.each(queries)('answers: $title', async ({ sql }) => {
    const { code, stdout, stderr } = await runCli(['query', '--json', sql], { cwd: folder });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout).length).toBeGreaterThan(0);
  });

  it('names every table, and none that is gone', async () => {
    const sql =
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name";
    const { stdout } = await runCli(['query', '--csv', sql], { cwd: folder });
    const [, chapter = ''] = page.split('## The tables of the file');
    const named = [...chapter.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, name]) => name);
    expect(named.toSorted()).toEqual(stdout.trim().split('\r\n').slice(1));
  });
});
