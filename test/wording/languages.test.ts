import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, TYPE } from '@formatjs/icu-messageformat-parser';
import { IntlMessageFormat } from 'intl-messageformat';
import { describe, expect, it } from 'vitest';
import { englishCatalogue, readCatalogue } from '../../scripts/write-languages.ts';
import { sayMatcher } from '../../src/http/page/silences.ts';
import { loadLanguage } from '../../src/languages/load-language.ts';
import { english, languageIds, languageNamed } from '../../src/wording/language.ts';
import { cutEnglish, declaredPhrases, fillEnglish, phrases, say } from '../../src/wording/phrase.ts';
import { sayBalance } from '../../src/wording/quantity-wording.ts';

const root = join(import.meta.dirname, '../..');
const sources = globSync('src/**/*.ts', { cwd: root }).map((path) => readFileSync(join(root, path), 'utf8'));
const catalogue = await englishCatalogue();

type Elements = ReturnType<typeof parse>;

/** The arguments of a sentence, those of a plural marked. */
function argumentsOf(elements: Elements): string[] {
  const found = elements.flatMap((element): string[] => {
    if (element.type === TYPE.argument) return [element.value];
    if (element.type !== TYPE.plural && element.type !== TYPE.select) return [];
    return [element.value, ...Object.values(element.options).flatMap(({ value }) => argumentsOf(value))];
  });
  return [...new Set(found)].toSorted();
}

const argumentsIn = (sentence: string) => argumentsOf(parse(sentence, { ignoreTag: true }));

describe('The catalogue', () => {
  it('is what the sources say: npm run reference writes it', () => {
    expect(readCatalogue('en')).toEqual(catalogue);
  });

  it('is said in English as FormatJS would say it', () => {
    for (const { name, english: sentence } of declaredPhrases())
      for (const count of [0, 1, 2, 17]) {
        const given = Object.fromEntries(argumentsIn(sentence).map((argument) => [argument, count]));
        const formatted = new IntlMessageFormat(sentence, 'en', {}, { ignoreTag: true }).format(given);
        expect(fillEnglish(cutEnglish(sentence), given), name).toBe(formatted);
      }
  });

  it('holds no phrase that nobody says', () => {
    const unused = declaredPhrases().filter(
      ({ name }) => !/^(?:ruleKey|receiverFile)\./.test(name) && !isSaid(name),
    );
    expect(unused.map(({ name }) => name)).toEqual([]);
  });
});

describe.each(languageIds.filter((id) => id !== 'en'))('The catalogue of %s', (id) => {
  const translated = readCatalogue(id);

  it('says all that English says, and nothing else', () => {
    expect(Object.keys(translated)).toEqual(Object.keys(catalogue));
  });

  it('names the same arguments, but half a sentence of English that a provider brings', () => {
    for (const [name, sentence] of Object.entries(catalogue)) {
      const wanted = argumentsIn(sentence).filter((argument) => argument !== 'replace');
      expect([name, ...argumentsIn(translated[name] ?? '')]).toEqual([name, ...wanted]);
    }
  });

  it('leaves open what English leaves open: what says "or", "about" or "perhaps" there says so here', () => {
    const words = {
      'zh-CN': { or: /或|还|、|不超过|不低于/, about: /约|左右|前后|预计/, perhaps: /可能/ },
      es: { or: /\b(?:o|u|ni)\b/, about: /unos|hacia/, perhaps: /quizá/ },
    }[id];
    for (const [name, sentence] of Object.entries(catalogue)) {
      if (/\bor\b/.test(sentence)) expect(translated[name], name).toMatch(words?.or ?? '');
      if (/\babout \{(?:amount|moment|total|end)/.test(sentence))
        expect(translated[name], name).toMatch(words?.about ?? '');
      if (/\bperhaps\b/.test(sentence)) expect(translated[name], name).toMatch(words?.perhaps ?? '');
    }
  });

  it('describes a key of a rule in as many sentences as English does', () => {
    const count = (text = '') => text.match(/\.(?= |$)|。/g)?.length;
    for (const [name, sentence] of Object.entries(catalogue))
      if (name.startsWith('ruleKey.'))
        expect([name, count(translated[name])]).toEqual([name, count(sentence)]);
  });
});

it('The style of a language holds: no imperatives for the reader in Spanish, no 您 and 请 in Chinese', () => {
  expect(Object.values(readCatalogue('zh-CN')).filter((text) => /您|(?<!邀)请(?!求)/.test(text))).toEqual([]);
  const polite = /\b(?:usted|vosotros|cierre|quería|pulse|escriba|compruebe|revise|elija|indique)\b/i;
  expect(Object.values(readCatalogue('es')).filter((text) => polite.test(text))).toEqual([]);
});

it('In Chinese no space stands before what may be a Chinese word, such as a severity or a name', async () => {
  const language = await loadLanguage('zh-CN');
  expect(['钱包', 'Wallet'].map((label) => sayBalance(label, { language }))).toEqual([
    '钱包余额',
    'Wallet 余额',
  ]);
  const muted = { account: ['batch'], severity: ['warning'] } as const;
  expect(sayMatcher(muted, { language })).toBe('账户 batch、级别警告');
});

it('In Chinese how far a balance is from a threshold is not said as the threshold', async () => {
  const language = await loadLanguage('zh-CN');
  const far = (name: string) => language.fill({ name, english: '' }, { amount: '50.00 CNY' });
  expect(['account.above', 'account.below'].map(far)).toEqual(['比阈值高 50.00 CNY', '比阈值低 50.00 CNY']);
});

it('A balance that is called just that is named once in Chinese, and in small letters within a sentence in Spanish', async () => {
  const twice = Object.entries(readCatalogue('zh-CN')).filter(([, text]) =>
    /\{(?:label|balance)\}余额/.test(text),
  );
  expect(twice.map(([name]) => name)).toEqual(['quantity.namedBalance']);
  expect(sayBalance('Balance', { language: await loadLanguage('es') })).toBe('saldo');
});

it('In Spanish a balance has its article within a sentence', () => {
  const bare = Object.entries(readCatalogue('es')).filter(([, text]) => /\bde \{balance\}/.test(text));
  expect(bare).toEqual([]);
});

it('In Spanish nothing agrees with the gender of a time: it may be hours or days', () => {
  const gendered = Object.values(readCatalogue('es')).filter((text) =>
    /\b(?:los|las|últim[oa]s|hacen falta) \{(?:span|seen|duration|needed)\}/.test(text),
  );
  expect(gendered.filter((text) => !text.includes('recargas'))).toEqual([]);
});

it('A language that is not loaded is said in English: a message is better than none', async () => {
  expect(languageNamed('xx')).toBe(english);
  expect((await loadLanguage('es')).id).toBe('es');
  expect(languageNamed('es').id).toBe('es');
});

it('An argument that is missing, unknown or no number where a count stands is refused by the type checker', () => {
  const says = phrases('test', {
    plain: 'nothing',
    named: '{name} is here',
    counted: '{count, plural, one {# alert} other {# alerts}} of {name}',
  });
  const reader = { language: english };
  expect(say(says.plain, reader)).toBe('nothing');
  expect(say(says.named, { name: 'Ada' }, reader)).toBe('Ada is here');
  expect(say(says.counted, { count: 2, name: 'Ada' }, reader)).toBe('2 alerts of Ada');
  // @ts-expect-error: the name is missing.
  say(says.named, reader);
  // @ts-expect-error: the name is missing.
  say(says.counted, { count: 2 }, reader);
  // @ts-expect-error: a count is a number.
  say(says.counted, { count: '2', name: 'Ada' }, reader);
  // @ts-expect-error: nothing is called so.
  expect(() => say(says.unheardOf, reader)).toThrow();
});

/** The groups of a place, each with the sources that may take from it. */
const groups = sources.flatMap((source) =>
  [...source.matchAll(/(export )?const (\w+) = (?:phrases|sentences)\('(.*?)'/g)].map(
    ([, isExported, group = '', place]) => ({
      place,
      group,
      takers: isExported === undefined ? [source] : sources.filter((other) => other.includes(group)),
    }),
  ),
);

/** Whether a source takes it from a group of its place, by name or by a computed one. */
function isSaid(name: string): boolean {
  const [place, key] = [name.slice(0, name.indexOf('.')), name.slice(name.indexOf('.') + 1)];
  return groups.some(({ group, takers, ...of }) => {
    const said = new RegExp(`\\b${group}(?:\\.${key.replace(/\W/g, '.')}\\b|\\[|,)`);
    return of.place === place && takers.some((source) => said.test(source));
  });
}
