import { firstWhere } from './first-where.ts';
import { getOrMake } from './get-or-make.ts';

export const placeholder = '[secret]';

/** Replacing every `a` or `12` would black out all text and still reveal the value. */
export const minFormLength = 4;

/** Text has so many first characters of a form hardly ever by chance. V8 copies a part so short, so that it keeps no form alive. */
export const beginning = 12;

/** Forms of one beginning: thousands of keys of one vendor may share it. */
interface Alike {
  readonly forms: ReadonlySet<string>;
  readonly lengths: ReadonlySet<number>;
  /** The long ones, in order. */
  readonly long: readonly string[];
}

/**
 * The forms to look for: every form of each secret. Fifty thousand accounts bring a quarter of a million forms, and hardly any text ever
 * holds one: kept is how forms begin, and they are made when a text has such a beginning.
 */
export class FormIndex {
  readonly #formsOf: (secret: string) => readonly string[];
  /** The secret of which a form has a beginning, by beginning; a list where several have. */
  readonly #secrets = new Map<string, string | string[]>();
  /** The forms of a beginning, once a text had it. */
  readonly #forms = new Map<string, Alike>();
  /** Lengths of beginnings: most are whole. */
  readonly #lengths = new Set<number>();
  /** A bit for the first characters of each form: most places of a text are passed over by it alone. */
  readonly #starts = new Uint8Array(2 ** 18);

  /** No form is shorter than `minFormLength`. */
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

  /** How forms begin and how long they are is not forgotten: that only costs a look. */
  remove(secret: string): void {
    for (const form of this.#formsOf(secret)) {
      const begins = form.slice(0, beginning);
      const [first, ...others] = [this.#secrets.get(begins) ?? []].flat().filter((each) => each !== secret);
      if (first === undefined) this.#secrets.delete(begins);
      else this.#secrets.set(begins, others.length === 0 ? first : [first, ...others]);
      this.#forms.delete(begins);
    }
  }

  /** The longest form at each index, one after the other. */
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

  /** The length of the longest form that begins at an index: none is to be hidden in part because another one is its beginning. */
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
      // The neighbours of the text, in order, have most of it in common.
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

/** A shorter secret has a beginning that may be a word of its own. */
const longSecret = 32;

/** The length of a long form's part at an index: its beginning where it ends there, as where it was cut; else 0. */
function lengthOf(form: string, text: string, index: number): number {
  let length = 0;
  while (length < form.length && form[length] === text[index + length]) length++;
  // The host of an address is no secret.
  const least = Math.max(beginning, (/^\w+:\/\/[^/]*\//.exec(form)?.[0].length ?? 0) + minFormLength);
  return length >= least && !/[\p{L}\p{N}]/u.test(text[index + length] ?? '') ? length : 0;
}

/** 21 bits of the first `minFormLength` characters. */
function startOf(text: string, index: number): number {
  let start = 0;
  for (let at = index; at < index + minFormLength; at++)
    start = Math.imul(start, 0x9e3779b1) + text.charCodeAt(at);
  return Math.imul(start, 0x9e3779b1) >>> 11;
}
