import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import '../support/built-program.ts';

const root = join(import.meta.dirname, '../..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const packed = listPacked();

describe('the package', () => {
  it('holds what the program reads and what a person looks for, and no sources or tests', () => {
    expect(packed).toEqual(
      expect.arrayContaining([
        'README.md',
        'LICENSE',
        'CHANGELOG.md',
        'config.example.json',
        'config.schema.json',
        'dist/main.js',
        'dist/main.js.map',
        'dist/third-party.txt',
        'dist/http/assets/styles/base.css',
        'man/lowwater.1',
        'assets/fonts/DejaVuSans-lowwater.ttf',
        ...readTree('migrations/**/*.sql'),
        ...readTree('docs/**/*.md'),
      ]),
    );
    const folders = new Set(packed.map((path) => (path.includes('/') ? path.split('/')[0] : path)));
    for (const left of ['src', 'test', 'bench', 'scripts', 'node_modules', '.ci'])
      expect(folders).not.toContain(left);
  });

  it('is installed with native parts and what browsers are sent, and nothing else: the rest is in the bundle', () => {
    expect(Object.keys(manifest.dependencies)).toEqual(['@resvg/resvg-js', 'better-sqlite3', 'uplot']);
    for (const file of readTree('dist/*.js')) {
      const imported = readFileSync(join(root, file), 'utf8').matchAll(
        /^(?:import|export) [^"]*"([^"./][^"]*)";$/gm,
      );
      for (const [, name = ''] of imported) {
        expect(isBuiltin(name) || Object.hasOwn(manifest.dependencies, packageOf(name)), name).toBe(true);
      }
    }
  });

  it('holds everything that its pages link to', () => {
    for (const page of packed.filter((path) => path.endsWith('.md'))) {
      const text = readFileSync(join(root, page), 'utf8').replace(/^```.*?^```/gms, '');
      for (const [, target = ''] of text.matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)/g)) {
        const linked = posix.join(posix.dirname(page), target).replace(/\/$/, '');
        expect(
          packed.some((path) => path === linked || path.startsWith(`${linked}/`)),
          `${page}: ${target}`,
        ).toBe(true);
      }
    }
  });

  it('may be published', () => {
    expect(manifest.private).toBeUndefined();
  });

  it('brings the licence of each package in the bundle', () => {
    const text = readFileSync(join(root, 'dist/third-party.txt'), 'utf8');
    for (const name of ['hono', 'nodemailer', 'pino', 'undici', 'zod']) {
      const { version, license } = JSON.parse(
        readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8'),
      );
      expect(text).toContain(`\n${name} ${version} (${license})\n`);
    }
  });
});

function listPacked(): readonly string[] {
  const words = ['pack', '--dry-run', '--json', '--ignore-scripts', '--loglevel=error'];
  const answer = execFileSync('npm', words, { cwd: root, encoding: 'utf8' });
  return [...answer.matchAll(/"path": "([^"]+)"/g)].map(([, path]) => path ?? '');
}

function readTree(pattern: string): readonly string[] {
  const found = globSync(pattern, { cwd: root });
  expect(found.length, pattern).toBeGreaterThan(0);
  for (const path of found) expect(existsSync(join(root, path))).toBe(true);
  return found;
}

function packageOf(name: string): string {
  return name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');
}
