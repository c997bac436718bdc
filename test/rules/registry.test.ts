import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ruleKindOf, ruleKinds, sayKind, selfAlertTypes } from '../../src/rules/registry.ts';
import { english } from '../../src/wording/language.ts';

const root = join(import.meta.dirname, '../..');
const names: readonly string[] = [...ruleKinds.map(({ type }) => type), ...selfAlertTypes];

/** Words that are names of kinds and of other things: keys, columns, classes. They count where a type is spoken of. */
const homonyms: readonly string[] = ['budget', 'currency', 'runway', 'top-up'];

/** What happens at the simulated provider, and configurations as people write them, use the same words. */
const exempt = ['src/rules/', 'src/simulator/', 'src/wiring/demo/', 'src/cli/init/'];

/** Where kinds are named in quotes: a second place in which a new kind would have to be thought of. */
function findNames(path: string, text: string): string[] {
  if (exempt.some((folder) => path.startsWith(folder))) return [];
  const code = text.replace(/\/\*[\s\S]*?\*\/|(?<!:)\/\/[^\n]*/g, '');
  return code.split('\n').flatMap((line) =>
    [...line.matchAll(/(?<=(?<quote>['"]))(?<name>[a-z-]+)\k<quote>/g)]
      .map(({ groups }) => groups?.name ?? '')
      .filter((name) => names.includes(name) && (!homonyms.includes(name) || /[.]type\b|\btype:/.test(line)))
      .map((name) => `${path} names ${name}`),
  );
}

describe('kinds of rules', () => {
  it('are named nowhere but in their modules', () => {
    const paths = globSync('src/**/*.ts', { cwd: root });
    expect(paths.length).toBeGreaterThan(100);
    expect(paths.flatMap((path) => findNames(path, readFileSync(join(root, path), 'utf8')))).toEqual([]);
  });

  it.each([
    ['a switch', "switch (rule.type) { case 'below': return 1; }"],
    ['a comparison', "if (rule.type === 'below') return;"],
    ['a list', "const kinds = ['runway-like', 'below'];"],
    ['a key', '{ "below": describe }'],
  ])('are found in %s', (_, text) => {
    expect(findNames('src/engine/a.ts', text)).toEqual(['src/engine/a.ts names below']);
  });

  it('are found by a name that means other things as well, where a type is spoken of', () => {
    expect(findNames('src/http/a.ts', "sort === 'runway'")).toEqual([]);
    expect(findNames('src/http/a.ts', "rule.type === 'runway'")).toEqual(['src/http/a.ts names runway']);
  });

  it('have names of their own', () => {
    expect(new Set(names).size).toBe(names.length);
  });

  it('know the rules that they made, and no others', () => {
    expect(ruleKindOf({ type: 'below' }).type).toBe('below');
    expect(() => ruleKindOf({ type: 'unheard-of' })).toThrow('no module knows rules of type unheard-of');
  });

  it('leave words for an alert that only a newer lowwater knows', () => {
    expect(sayKind({ type: 'unheard-of', balanceLabel: '', rule: 'x' }, { language: english })).toBe(
      'unheard-of',
    );
  });
});
