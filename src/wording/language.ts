import { getOrMake } from '../domain/get-or-make.ts';
import { ownOf } from '../domain/own.ts';
import { type Argument, type Language, type Listener, type Phrase, sayEnglish } from './phrase.ts';

/** The sentences of a language by the name of the phrase, in ICU MessageFormat. */
export type Catalogue = Readonly<Record<string, string>>;

/** A further language is a file in `languages/` and a word here; `languages/load-language.ts` finds the file. */
export const languageIds = ['en', 'zh-CN', 'es'] as const;

export type LanguageId = (typeof languageIds)[number];

const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

export const english: Language = {
  id: 'en',
  fill: sayEnglish,
  figure: (text) => text,
  marks: { group: ',', point: '.' },
  list: (texts, last) =>
    last === undefined || texts.length < 2
      ? texts.join(', ')
      : `${texts.slice(0, -1).join(', ')} and ${texts.at(-1) ?? ''}`,
  weekday: (weekday) => weekdays[weekday] ?? '',
  month: (month) => months[month] ?? '',
  compare: (left, right) => left.localeCompare(right, 'en'),
  gap: () => '',
};

const loaded = new Map<string, Language>([['en', english]]);

/** The language of that name; English if it is not loaded: a message in another language is better than none. */
export function languageNamed(id: string): Language {
  return loaded.get(id) ?? english;
}

/** Keeps a language, which `languageNamed` finds from then on. */
export function keepLanguage(language: Language): void {
  loaded.set(language.id, language);
}

interface Formatted {
  format(values: Readonly<Record<string, Argument>>): unknown;
}

/** A language from its catalogue. Sentences that it lacks are said in English. `parse` is FormatJS's. */
export function makeLanguage(
  id: string,
  catalogue: Catalogue,
  parse: (sentence: string) => Formatted,
): Language {
  const parsed = new Map<string, Formatted>();
  const figures = new Intl.NumberFormat(id).formatToParts(12345678.9);
  const markOf = (type: string): string => figures.find((part) => part.type === type)?.value ?? '';
  const [group, point] = [markOf('group'), markOf('decimal')];
  const share = new Intl.NumberFormat(id, { style: 'percent' }).formatToParts(0);
  const percent = share.map(({ type, value }) => (type === 'integer' ? '' : value)).join('');
  const marks: Readonly<Record<string, string>> = { ',': group, '.': point, '%': percent };
  const nameOf = (options: Intl.DateTimeFormatOptions): ((at: Date) => string) => {
    const formatter = new Intl.DateTimeFormat(id, { ...options, timeZone: 'UTC' });
    return (at) => formatter.format(at);
  };
  const weekday = nameOf({ weekday: 'short' });
  const month = nameOf({ month: 'short' });
  const lists = new Intl.ListFormat(id, { type: 'conjunction' });
  const comma = lists.formatToParts(['a', 'b', 'c']).find(({ type }) => type === 'literal')?.value ?? ', ';
  const collator = new Intl.Collator(id);
  const isChinese = id.startsWith('zh');
  return {
    id,
    fill(phrase, given) {
      const sentence = ownOf(catalogue, phrase.name);
      if (sentence === undefined) return english.fill(phrase, given);
      const formatted = getOrMake(parsed, phrase.name, () => parse(sentence));
      if (!isChinese) return String(formatted.format(given));
      const marked = Object.entries(given).map(([name, value]) => [
        name,
        typeof value === 'string' ? atJoint(value) : value,
      ]);
      return apartFromLatin(String(formatted.format(Object.fromEntries(marked))));
    },
    figure: (text) => text.replace(/[.,%]/g, (mark) => marks[mark] ?? mark),
    marks: { group, point },
    list: (texts, last) =>
      last === undefined ? texts.join(comma) : apartFromLatin(lists.format(texts.map(atJoint))),
    gap: (left, right) =>
      isChinese && tight.test(`${left.slice(-1)}${joint}${right.slice(0, 2)}`) ? ' ' : '',
    // 4 January 1970 was a Sunday.
    weekday: (index) => weekday(new Date(Date.UTC(1970, 0, 4 + index))),
    month: (index) => month(new Date(Date.UTC(1970, index, 1))),
    compare: (left, right) => collator.compare(left, right),
  };
}

/** Phrases that a script of the page fills: `{name}` stands in place of an argument. */
export function patternsOf(
  group: Readonly<Record<string, Phrase>>,
  { language }: Listener,
): Readonly<Record<string, string>> {
  const patterns = Object.entries(group).map(([key, phrase]) => {
    const holes = [...phrase.english.matchAll(/\{(\w+)\}/g)].map(([hole, name]) => [name, hole]);
    return [key, language.fill(phrase, Object.fromEntries(holes))];
  });
  return Object.fromEntries(patterns);
}

/** Marks where an argument begins or ends while a sentence is built. */
const joint = '\u{e001}';

const atJoint = (text: string): string => joint + text + joint;

/** Chinese has a space between its characters and Latin letters or figures, except in dates. The inside of an argument stays as it is. */
const tight = new RegExp(
  `(?<=\\p{Script=Han})${joint}+(?=[-+−"]?\\p{Script=Latin})|` +
    `(?<=(?![年月])\\p{Script=Han})${joint}+(?=[-+−"]?\\p{N})|` +
    `(?<=[\\p{Script=Latin}\\p{N}]"?)${joint}+(?=(?![年月日])\\p{Script=Han})`,
  'u',
);

const everyTight = new RegExp(tight, 'gu');

function apartFromLatin(text: string): string {
  return text.replace(everyTight, ' ').replaceAll(joint, '');
}
