import fc from 'fast-check';
import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5';
import { describe, expect, it } from 'vitest';
import { html } from '../../src/wording/html.ts';
import { anyCharacter } from '../support/hostile-text.ts';

describe('markup', () => {
  it('escapes what a template is given and leaves the template alone', () => {
    expect(html`<b title="${`"'&<>`}">${'<script>alert(1)</script>'}</b>`.markup).toBe(
      '<b title="&quot;&#39;&amp;&lt;&gt;">&lt;script&gt;alert(1)&lt;/script&gt;</b>',
    );
  });

  it('joins lists, keeps markup as it is, and lets nothing stand for null, undefined and false', () => {
    const items = ['a', '<b>'].map((item) => html`<li>${item}</li>`);
    expect(html`<ul>${items}${null}${undefined}${false}${0}</ul>`.markup).toBe(
      '<ul><li>a</li><li>&lt;b&gt;</li>0</ul>',
    );
  });

  it.each([
    ['control characters and NUL', 'a\u0000b\u0007c', 'abc'],
    ['an override of the direction', 'abc\u202Etxt.exe', 'abctxt.exe'],
    ['characters of no width', 'a\u200Bb\uFEFF', 'ab'],
    ['half a surrogate pair', 'a\uD800b', 'a\uFFFDb'],
    ['line breaks', 'a\r\nb', 'a b'],
  ])('removes %s from text', (_what, given, shown) => {
    expect(html`${given}`.markup).toBe(shown);
  });

  it('keeps emoji whole', () => {
    expect(html`${'👩‍👩‍👧'}`.markup).toBe('👩‍👩‍👧');
  });

  it('cuts a name of many thousands of characters', () => {
    expect(html`${'x'.repeat(50_000)}`.markup.length).toBeLessThanOrEqual(4_000);
  });

  it('no matter what a value holds, exactly the elements of the template come out', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), fc.string(), (text, attribute) => {
        const fragment = parseFragment(html`<p title="${attribute}">${text}</p>`.markup);
        expect(elementsOf(fragment)).toEqual(['p']);
      }),
    );
  });
});

function elementsOf(node: DefaultTreeAdapterTypes.ParentNode): string[] {
  return node.childNodes.flatMap((child) =>
    'tagName' in child ? [child.tagName, ...elementsOf(child)] : [],
  );
}
