import { nearestWord } from '../domain/nearest-word.ts';

export function quoteKey(key: string): string {
  const characters = [...key];
  const cut = characters.length > 60 ? `${characters.slice(0, 59).join('')}…` : key;
  return JSON.stringify(cut).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (found) => {
    const code = found.codePointAt(0) ?? 0;
    return `\\u{${code.toString(16)}}`;
  });
}

/** `a, b and 3 more`: ten at most, in their order. */
export function listFirst(names: readonly string[], count = 10): string {
  const more = names.length > count ? ` and ${names.length - count} more` : '';
  return `${names.slice(0, count).join(', ')}${more}`;
}

/** `"a", "b" or "c"`. */
export function listWords(words: readonly string[], joint: 'and' | 'or' = 'or'): string {
  const quoted = words.map(quoteKey);
  const last = quoted.pop() ?? '';
  return quoted.length === 0 ? last : `${quoted.join(', ')} ${joint} ${last}`;
}

/** Joins sentences with a space; punctuation of full width brings its own. */
export function joinSentences(sentences: readonly string[]): string {
  return sentences.join(' ').replace(/(?<=[。；：！？）]) /g, '');
}

/** A text that stands alone on a page: it begins with a capital letter and ends with a stop. lowwater and names of keys stay as they are. */
export function asSentence(text: string): string {
  const stop = /\p{Script=Han}/u.test(text.replace(/["“「][^"”」]*["”」]/g, '')) ? '。' : '.';
  const begun = text.replace(/^(?!lowwater\b)\p{Ll}(?=\p{L}* )/u, (letter) => letter.toUpperCase());
  return /[.?!…。？！]$/.test(begun) ? begun : begun + stop;
}

/** A sentence without its full stop, because more follows in its line. */
export function withoutStop(sentence: string): string {
  return sentence.replace(/[.。]$/, '');
}

/** A name and its value, with the colon of its script. */
export function labelled(label: string, value: string): string {
  return `${label}${colonAfter(label)}${value}`;
}

export function colonAfter(label: string): string {
  return /\p{Script=Han}$/u.test(label) ? '：' : ': ';
}

/** `did you mean "otp"?`; null if no known word is near. */
export function didYouMean(typed: string, known: Iterable<string>): string | null {
  const nearest = nearestWord(typed, known);
  return nearest === null ? null : `did you mean ${quoteKey(nearest)}?`;
}
