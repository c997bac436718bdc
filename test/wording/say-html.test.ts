import { expect, it } from 'vitest';
import { loadLanguage } from '../../src/languages/load-language.ts';
import { html, listHtml, sayHtml } from '../../src/wording/html.ts';
import { english, makeLanguage } from '../../src/wording/language.ts';
import { type PhraseOf, say } from '../../src/wording/phrase.ts';

it('A phrase takes markup for an argument; its own text and other text is escaped, and keeps its spaces', () => {
  const phrase = {
    name: 'test.html',
    english: 'a < {what} of {name}, {count, plural, one {# day} other {# days}}',
  };
  const given = { what: html`<b>b</b>`, name: '<c>', count: 2 };
  expect(sayHtml(phrase, given, { language: english }).markup).toBe('a &lt; <b>b</b> of &lt;c&gt;, 2 days');
});

it('A Chinese sentence stands apart from names, figures and moments in Latin letters, and from no Chinese ones, in markup too', async () => {
  const language = await loadLanguage('zh-CN');
  const phrase: PhraseOf<'{person} has {what} until {moment}'> = { name: 'joint.taken', english: '' };
  const chinese = makeLanguage(
    'zh-CN',
    { 'joint.taken': '由{person}静默{what}至{moment}为止' },
    (sentence) => ({
      format: (given) => sentence.replace(/\{(\w+)\}/g, (_whole, name: string) => String(given[name])),
    }),
  );
  const latin = { person: 'Ana', what: 'otp', moment: '11月27日 23:59' };
  expect(say(phrase, latin, { language: chinese })).toBe('由 Ana 静默 otp 至 11月27日 23:59 为止');
  const han = { person: '小明A组', what: '营销', moment: '周四' };
  expect(say(phrase, han, { language: chinese })).toBe('由小明A组静默营销至周四为止');
  const marked = { person: html`<b>Ana</b>`, what: html`<b>营销</b>`, moment: html`<time>-3 天</time>` };
  expect(String(sayHtml(phrase, marked, { language: chinese }))).toBe(
    '由 <b>Ana</b> 静默<b>营销</b>至 <time>-3 天</time>为止',
  );
  expect(language.list(['otp', '营销', 'news'], 'and')).toBe('otp、营销和 news');
});

it('Pieces are listed with the comma of the language, and its space where it has one', async () => {
  const pieces = [html`<b>a</b>`, html`<b>b</b>`];
  expect(html`${listHtml(pieces, { language: english })}`.markup).toBe('<b>a</b>, <b>b</b>');
  const chinese = await loadLanguage('zh-CN');
  expect(html`${listHtml(pieces, { language: chinese })}`.markup).toBe('<b>a</b>、<b>b</b>');
});
