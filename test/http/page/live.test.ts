import { describe, expect, it } from 'vitest';
import { live, readParts, withoutInner } from '../../../src/http/page/live.ts';
import { html } from '../../../src/wording/html.ts';

const row = (key: string, words: string) => live(key, html`<td>${words}</td>`, { tag: 'tr' });
const list = (...rows: readonly (readonly [key: string, words: string])[]) =>
  live('list', html`<table>${rows.map(([key, words]) => row(key, words))}</table>`).markup;
const digests = (page: string) => new Map(readParts(page).map(({ key, digest }) => [key, digest]));

describe('the parts of a page', () => {
  it('are found again in its text, the inner ones first', () => {
    const page = `<main>${list(['a', 'one'], ['b', '<two>'])}<p>apart</p></main>`;
    expect(readParts(page).map(({ key }) => key)).toEqual(['a', 'b', 'list']);
  });

  it('change their digest with what they hold, and not with what the parts within them hold', () => {
    const before = digests(list(['a', 'one'], ['b', 'two']));
    const after = digests(list(['a', 'one'], ['b', 'three']));
    expect(after.get('a')).toBe(before.get('a'));
    expect(after.get('b')).not.toBe(before.get('b'));
    expect(after.get('list')).toBe(before.get('list'));
    expect(digests(list(['b', 'two'], ['a', 'one'])).get('list')).not.toBe(before.get('list'));
  });

  it('are the same when only an age has passed', () => {
    const aged = (words: string) => live('x', html`<time data-age>${words}</time>`).markup;
    expect(digests(aged('1 minute ago'))).toEqual(digests(aged('2 minutes ago')));
  });

  it('stand empty within the one that holds them when that is sent alone', () => {
    const [, , outer] = readParts(list(['a', 'one'], ['b', 'two']));
    expect(outer && withoutInner(outer)).toMatch(
      /^<div data-live="list" data-is="[^"]+"><table><tr data-live="a"><\/tr><tr data-live="b"><\/tr><\/table><\/div>$/,
    );
  });

  it('cannot be made by what a name holds', () => {
    const hostile = '</tr><!--/live--><div data-live="list" data-is="x">';
    expect(readParts(list(['a', hostile], [hostile, 'two']))).toHaveLength(3);
  });
});
