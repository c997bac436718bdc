import { firstWhere } from './first-where.ts';
import { getOrMake } from './get-or-make.ts';

export const placeholder = '[secret]';

/** Replacing every `a` or `12` would black out all text and still reveal the value. */
export const minFormLength = 4;

/** A text hardly ever matches this many first characters by chance. V8 copies a part this short, so that it keeps no form in memory. */
export const beginning = 12;

/** Forms that share a beginning: thousands of keys of one vendor may do so. */
interface Alike {
  readonly forms: ReadonlySet<string>;
  readonly lengths: ReadonlySet<number>;
  /** The forms of at least `longSecret` characters, sorted. */
  readonly long: readonly string[];
}

/**
 * The forms to look for: every form of each secret. Fifty thousand accounts bring a quarter of a million forms, and hardly any text holds
 * one. So only the beginnings are kept, and the forms of a beginning are made when a text contains it.
 */
export class FormIndex {
  readonly #formsOf: (secret: string) => readonly string[];
  /** The secret that a form belongs to, by the form's beginning; a list if several secrets share the beginning. */
  readonly #secrets = new Map<string, string | string[]>();
  /** The forms of a beginning, made once a text contained it. */
  readonly #forms = new Map<string, Alike>();
  /** The lengths of the beginnings: most have all `beginning` characters. */
  readonly #lengths = new Set<number>();
  /** One bit for each hash of a form's first characters: it alone rules out most places of a text. */
  readonly #starts = new Uint8Array(2 ** 18);

  /** `formsOf` gives no form shorter than `minFormLength`. */
  constructor(formsOf: (secret: string) => readonly string[]) {
    this.#formsOf = formsOf;
  }

  add(secret: string): void {
    for (const form of this.#formsOf(secret)) {
      const begins = form.slice(0, beginning);
      const known = this.#secrets.get(begins);
      if (known === undefined) this.#secrets.set(begins, secret);
      else if (typeof known !== 'string') known.push(secret);
      else if (known !== secret) this.#secrets.set(begins, [known, secret]);
      this.#forms.delete(begins);
      this.#lengths.add(begins.length);
      const start = startOf(form, 0);
      this.#starts[start >>> 3] = (this.#starts[start >>> 3] ?? 0) | (1 << (start & 7));
    }
  }

  /** The start bits and lengths stay set: they only cost a lookup. */
  remove(secret: string): void {
    for (const form of this.#formsOf(secret)) {
      const begins = form.slice(0, beginning);
      const [first, ...others] = [this.#secrets.get(begins) ?? []].flat().filter((each) => each !== secret);
      if (first === undefined) this.#secrets.delete(begins);
      else this.#secrets.set(begins, others.length === 0 ? first : [first, ...others]);
      this.#forms.delete(begins);
    }
  }

  /** The longest form at each index; forms do not overlap. */
  *formsIn(text: string): Generator<readonly [index: number, form: string], void> {
    for (let index = 0; index < text.length; index++) {
      const length = this.#lengthAt(text, index);
      if (length === 0) continue;
      yield [index, text.slice(index, index + length)];
      index += length - 1;
    }
  }

  isIn(text: string): boolean {
    return this.formsIn(text).some(() => true);
  }

  replaceAll(text: string): string {
    let clean = '';
    let from = 0;
    for (const [index, form] of this.formsIn(text)) {
      clean += text.slice(from, index) + placeholder;
      from = index + form.length;
    }
    return clean + text.slice(from);
  }

  /** The length of the longest form that begins at an index, so that no form is hidden only in part because another one is its beginning. */
  #lengthAt(text: string, index: number): number {
    const start = startOf(text, index);
    if (((this.#starts[start >>> 3] ?? 0) & (1 << (start & 7))) === 0) return 0;
    let longest = 0;
    for (const length of this.#lengths) {
      const begins = text.slice(index, index + length);
      if (!this.#secrets.has(begins)) continue;
      const { forms, lengths, long } = this.#formsThatBegin(begins);
      for (const each of lengths)
        if (each > longest && forms.has(text.slice(index, index + each))) longest = each;
      // In sorted order, the neighbours of the text have the most characters in common with it.
      const rest = text.slice(index, index + Math.max(...lengths));
      const after = firstWhere(0, long.length, (place) => (long[place] ?? '') > rest);
      for (const form of long.slice(Math.max(0, after - 1), after + 1))
        longest = Math.max(longest, lengthOf(form, text, index));
    }
    return longest;
  }

  #formsThatBegin(begins: string): Alike {
    return getOrMake(this.#forms, begins, () => {
      const secrets = [this.#secrets.get(begins) ?? []].flat();
      const all = secrets.flatMap((secret) => this.#formsOf(secret));
      const forms = new Set(all.filter((form) => form.startsWith(begins)));
      const lengths = new Set([...forms].map(({ length }) => length));
      return { forms, lengths, long: [...forms].filter(({ length }) => length >= longSecret).sort() };
    });
  }
}

/** Only forms this long are also found when they are cut: the beginning of a shorter secret may be a word of its own. */
const longSecret = 32;

/** The length of a long form's part at an index. It counts if the form ends or was cut there, which is where no letter or digit follows; else 0. */
function lengthOf(form: string, text: string, index: number): number {
  let length = 0;
  while (length < form.length && form[length] === text[index + length]) length++;
  // The host of an address is no secret.
  const least = Math.max(beginning, (/^\w+:\/\/[^/]*\//.exec(form)?.[0].length ?? 0) + minFormLength);
  return length >= least && !/[\p{L}\p{N}]/u.test(text[index + length] ?? '') ? length : 0;
}

/** A hash of the first `minFormLength` characters, in 21 bits. */
function startOf(text: string, index: number): number {
  let start = 0;
  for (let at = index; at < index + minFormLength; at++)
    start = Math.imul(start, 0x9e3779b1) + text.charCodeAt(at);
  return Math.imul(start, 0x9e3779b1) >>> 11;
}
