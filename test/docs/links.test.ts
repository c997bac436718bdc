import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { type ParseError, parse as parseJsonc } from 'jsonc-parser';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { fences, type Page, pages, proseOf } from '../support/documentation.ts';
import { promtool } from '../support/promtool.ts';

const root = join(import.meta.dirname, '../..');

/** What a page links to on this side of the network: files, folders and headings. */
function linksOf(page: Page): readonly { readonly path: string; readonly anchor: string }[] {
  const found = [
    ...proseOf(page).matchAll(/(?:\]\(|(?:src|href)=")(?!https?:|mailto:)([^)"#\s]*)(?:#([^)"\s]+))?[)"]/g),
  ];
  return found.map(([, target = '', anchor = '']) => ({
    path: target === '' ? page.path : posix.join(posix.dirname(page.path), target),
    anchor,
  }));
}

/** The anchors of a page, as GitHub makes them of headings. */
function anchorsOf(text: string): readonly string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(/\s/g, '-'),
  );
}

describe('a page of the documentation', () => {
  it.each(pages.filter((page) => linksOf(page).length > 0))('links to what is there: $path', (page) => {
    for (const { path, anchor } of linksOf(page)) {
      expect(existsSync(join(root, path)), path).toBe(true);
      if (anchor !== '') expect(anchorsOf(readFileSync(join(root, path), 'utf8')), path).toContain(anchor);
    }
  });

  it.each(pages.filter(({ path }) => /^docs\/[^/]*\.md$/.test(path) && path !== 'docs/README.md'))(
    'is found from the index: $path',
    ({ path }) => {
      const index = pages.find((page) => page.path === 'docs/README.md');
      expect(index === undefined ? [] : linksOf(index).map((link) => link.path)).toContain(path);
    },
  );

  it('is reached from the README, by the index', () => {
    const readme = pages.find(({ path }) => path === 'README.md');
    expect(readme === undefined ? [] : linksOf(readme).map(({ path }) => path)).toContain('docs/README.md');
  });
});

describe('an example in the documentation', () => {
  it.each(fences.filter(({ info }) => info === 'json'))('is JSON: $page', ({ body }) => {
    const errors: ParseError[] = [];
    // A part of a file is a member of an object without its braces.
    parseJsonc(/^\s*"[^"]*":/.test(body) ? `{${body}}` : body, errors);
    expect(errors).toEqual([]);
  });

  it.each(fences.filter(({ info }) => info === 'yaml'))('is YAML: $page', ({ body }) => {
    expect(parseAllDocuments(body).flatMap((document) => document.errors)).toEqual([]);
  });

  const prometheus = fences.find(({ body }) => body.startsWith('# prometheus.yml'));

  it.skipIf(promtool === null)('for Prometheus is clean by promtool check config', () => {
    const folder = mkdtempSync(join(tmpdir(), 'lowwater-prometheus-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, 'token'), 'token');
    writeFileSync(
      join(folder, 'lowwater-rules.yml'),
      readFileSync(join(root, 'deploy/prometheus-rules.yml')),
    );
    const text = prometheus?.body.replace('/etc/prometheus/lowwater-token', join(folder, 'token')) ?? '';
    writeFileSync(join(folder, 'prometheus.yml'), text);
    const checked = spawnSync(promtool ?? '', ['check', 'config', join(folder, 'prometheus.yml')], {
      encoding: 'utf8',
    });
    expect({ status: checked.status, stderr: checked.stderr }).toEqual({ status: 0, stderr: '' });
  });
});
