import { getOrMake } from '../domain/get-or-make.ts';
import { ownOf } from '../domain/own.ts';

/**
 * One thing that lowwater says to people, whole: a name, the English sentence where it is said, and named arguments. The English is
 * ICU MessageFormat, of which it may use `{name}` and `{name, plural, one {…} other {…}}`; other languages may use all of it.
 */
export interface Phrase<Arguments = never> {
  readonly name: string;
  readonly english: string;
  /** Only for the type checker: the arguments that a caller has to give. */
  readonly given?: (given: Arguments) => void;
}

/** The value of an argument: text as it is, or a count. Amounts, instants and durations become words before. */
export type Argument = string | number;

/** The arguments that a sentence names; those of a plural are numbers. A branch of a plural holds a space or `#`, which no name does. */
type ArgumentsIn<Text extends string> = Text extends `${string}{${infer Rest}`
  ? (Rest extends `${infer Head}}${string}` ? ArgumentAt<Head> : unknown) & ArgumentsIn<Rest>
  : unknown;

type ArgumentAt<Head extends string> = Head extends `${infer Name}, plural,${string}`
  ? { readonly [key in Name]: number }
  : Head extends `${string}${' ' | '#' | '{'}${string}` | ''
    ? unknown
    : { readonly [key in Head]: Argument };

export type PhraseOf<Text extends string> = Phrase<ArgumentsIn<Text>>;

/** An argument in an English sentence, with its branches if it is a plural. */
const pattern = /\{(\w+)(?:, plural, one \{((?:[^{}]|\{\w+\})*)\} other \{((?:[^{}]|\{\w+\})*)\})?\}/g;

const declared = new Map<string, Phrase>();

/** Declares the phrases of one place: `phrases('stale', { subject: 'no readings' })` makes the phrase `stale.subject`. */
export function phrases<const English extends Readonly<Record<string, string>>>(
  place: string,
  english: English,
) {
  const made = Object.entries(english).map(([key, sentence]) => {
    const phrase: Phrase = { name: `${place}.${key}`, english: sentence };
    if (declared.has(phrase.name)) throw new Error(`${phrase.name} is declared twice`);
    declared.set(phrase.name, phrase);
    return [key, phrase];
  });
  return Object.fromEntries(made) as { readonly [Key in keyof English]: PhraseOf<English[Key]> };
}

const kept: Phrase[] = [];

/** Sentences that lowwater says without a known reader: each makes an English text from its arguments. */
type Sentences<English> = {
  readonly [Key in keyof English]: unknown extends ArgumentsIn<English[Key] & string>
    ? () => string
    : (given: ArgumentsIn<English[Key] & string>) => string;
};

/**
 * `phrases` for texts that are stored, thrown or sent in English, as verdicts and refusals are: `sentences('why', …).tooShort({ seen })` is
 * the English text. `sayAgain` puts it in the language of a reader.
 */
export function sentences<const English extends Readonly<Record<string, string>>>(
  place: string,
  english: English,
) {
  const made = Object.entries<Phrase>(phrases(place, english)).map(([key, phrase]) => {
    kept.push(phrase);
    return [key, (given: Readonly<Record<string, Argument>> = {}) => sayEnglish(phrase, given)];
  });
  return Object.fromEntries(made) as Sentences<English>;
}

/** Declares a sentence from a data file. The sentence itself is its name. */
export function keepSentence(place: string, text: string): void {
  if (!declared.has(`${place}.${text}`)) sentences(place, { [text]: text });
}

export function keptPhrases(): readonly Phrase[] {
  return kept;
}

/** Everything that the loaded modules say, for the catalogue and its tests. */
export function declaredPhrases(): readonly Phrase[] {
  return [...declared.values()];
}

export type Part =
  | { readonly name: string; readonly one?: readonly Part[]; readonly other?: readonly Part[] }
  | string;

/**
 * An English sentence cut at its arguments, exactly as FormatJS does it (a test compares all sentences). FormatJS is not loaded: a reader of
 * English pays nothing for other languages.
 */
export function cutEnglish(sentence: string, count = ''): readonly Part[] {
  const parts: Part[] = [];
  let from = 0;
  for (const { index, 0: whole, 1: name = '', 2: one, 3: other } of sentence.matchAll(pattern)) {
    if (index > from) parts.push(...cutCount(sentence.slice(from, index), count));
    from = index + whole.length;
    parts.push(
      one === undefined
        ? { name }
        : { name, one: cutEnglish(one, name), other: cutEnglish(other ?? '', name) },
    );
  }
  if (from < sentence.length) parts.push(...cutCount(sentence.slice(from), count));
  return parts;
}

/** In a branch of a plural, `#` stands for its number. */
function cutCount(text: string, count: string): readonly Part[] {
  if (count === '') return [text];
  return text.split('#').flatMap((piece, index) => [...(index === 0 ? [] : [{ name: count }]), piece]);
}

const cut = new WeakMap<object, readonly Part[]>();

/** Fills a sentence, which is cut when it is first said: one process never says most of them. */
export function sayEnglish(
  phrase: Pick<Phrase, 'english'>,
  given: Readonly<Record<string, Argument>>,
): string {
  return fillEnglish(
    getOrMake(cut, phrase, () => cutEnglish(phrase.english)),
    given,
  );
}

export function fillEnglish(parts: readonly Part[], given: Readonly<Record<string, Argument>>): string {
  let text = '';
  for (const part of parts) {
    if (typeof part === 'string') text += part;
    else if (part.one === undefined) text += String(ownOf(given, part.name) ?? '');
    else text += fillEnglish((ownOf(given, part.name) === 1 ? part.one : part.other) ?? [], given);
  }
  return text;
}

/** The means to say sentences in one language. English is always there; others are loaded when a configuration or a reader asks for them. */
export interface Language {
  /** BCP 47: `en`, `zh-CN`. */
  readonly id: string;
  fill(phrase: Pick<Phrase, 'name' | 'english'>, given: Readonly<Record<string, Argument>>): string;
  /** An English figure, such as `1,234.50`, with the separators of the language. */
  figure(english: string): string;
  /** The separators between thousands and before decimals. */
  readonly marks: { readonly group: string; readonly point: string };
  /** `a, b, c`; with `and` between the last two if asked for. */
  list(texts: readonly string[], last?: 'and'): string;
  /** Short names, such as `Thu` and `Nov`; `weekday` counts from Sunday, `month` from January, both from 0. */
  weekday(weekday: number): string;
  month(month: number): string;
  compare(left: string, right: string): number;
  /** A space if one belongs between the ends of two pieces of a sentence, otherwise nothing. */
  gap(left: string, right: string): string;
}

/** The reader of a text of which only the language matters. */
export interface Listener {
  readonly language: Language;
}

/**
 * A phrase in the reader's language: `say(says.past, { duration }, reader)`. The type checker asks for exactly the arguments that the English
 * names.
 */
export function say(phrase: Phrase<unknown>, reader: Listener): string;
export function say<Arguments>(phrase: Phrase<Arguments>, given: Arguments, reader: Listener): string;
export function say(phrase: Pick<Phrase, 'name' | 'english'>, ...rest: readonly unknown[]): string {
  const { language } = rest.at(-1) as Listener;
  return language.fill(phrase, rest.length === 1 ? {} : (rest[0] as Readonly<Record<string, Argument>>));
}
