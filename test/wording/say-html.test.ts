import { expect, it } from 'vitest';
import { html } from '../../src/wording/html.ts';
import { english } from '../../src/wording/language.ts';
import { sayHtml } from '../../src/wording/say-html.ts';

it('A phrase takes markup for an argument; its own text and other text is escaped, and keeps its spaces', () => {
  const phrase = {
    name: 'test.html',
    english: 'a < {what} of {name}, {count, plural, one {# day} other {# days}}',
  };
  const given = { what: html`<b>b</b>`, name: '<c>', count: 2 };
  expect(sayHtml(phrase, given, { language: english }).markup).toBe('a &lt; <b>b</b> of &lt;c&gt;, 2 days');
});
