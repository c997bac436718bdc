import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { renderMetrics } from '../../src/http/metrics.ts';
import { startDemoWorld } from '../support/demo-world.ts';

const root = join(import.meta.dirname, '../..');
const [, chapter = ''] = readFileSync(join(root, 'docs/operation.md'), 'utf8').split('\n## Metrics\n');
const [table = ''] = chapter.split('\n## ');
const labelsByName = new Map(
  [...table.matchAll(/^\| (`lowwater_[^|]*) \| ([^|]*)\|/gm)].flatMap(([, names = '', labels = '']) =>
    namesIn(names).map((name) => [name, namesIn(labels)] as const),
  ),
);

function namesIn(cell: string): readonly string[] {
  return [...cell.matchAll(/`([a-z_]+)`/g)].map(([, name = '']) => name);
}

it('the page about operation names every metric, and none that is gone', () => {
  const source = readFileSync(join(root, 'src/http/metrics.ts'), 'utf8');
  const [, helps = ''] = /const helps = \{(.*?)\} as const/s.exec(source) ?? [];
  const made = [...helps.matchAll(/^ {2}(lowwater_\w+):/gm)].map(([, name]) => name);
  expect([...labelsByName.keys()].toSorted()).toEqual(made.toSorted());
});

it('the page about operation names the labels of each metric', async () => {
  let text = '';
  const { views } = await startDemoWorld();
  for await (const chunk of renderMetrics(views, { now: 0, refusedTokens: 0 })) text += chunk;
  const samples = [...text.matchAll(/^(lowwater_\w+?)(?:_bucket|_sum|_count)?(?:\{(.*)\})? /gm)];
  for (const [, name = '', labels = ''] of samples) {
    if (name === 'lowwater_account_info') continue; // The labels of accounts are their own.
    const shown = [...labels.matchAll(/(\w+)="/g)].map(([, label = '']) => label);
    const said = labelsByName.get(name) ?? [];
    expect({ name, shown: shown.filter((label) => !said.includes(label)) }).toEqual({ name, shown: [] });
  }
});
