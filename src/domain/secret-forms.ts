const placeholder = '[secret]';

/**
 * Shorter values are not hidden: replacing every `a` or `12` would black out all text and still reveal the
 * value.
 */
export const minFormLength = 4;

/** Text has so many first characters of a form hardly ever by chance. V8 copies a part so short, so that it keeps no form alive. */
const beginning = 12;

/**
 * What to look for: every form of each secret. Fifty thousand accounts bring a quarter of a million forms, and hardly any text ever
 * holds one: kept is how forms begin, and they are made when a text has such a beginning.
 */
export class FormIndex {
  readonly #formsOf: (secret: string) => readonly string[];
  /** By beginning, the secret of which a form has it; a list where several have. */
  readonly #secrets = new Map<string, string | string[]>();
  /** By beginning, its forms, once a text had it. */
  readonly #forms = new Map<string, readonly string[]>();
  /** How long beginnings are: most are whole. */
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

  /** Whether a form stands in the text. */
  isIn(text: string): boolean {
    for (let place = 0; place < text.length; place++) if (this.#lengthAt(text, place) > 0) return true;
    return false;
  }

  replaceAll(text: string): string {
    let clean = '';
    let from = 0;
    for (let place = 0; place < text.length; place++) {
      const length = this.#lengthAt(text, place);
      if (length === 0) continue;
      clean += text.slice(from, place) + placeholder;
      from = place + length;
      place = from - 1;
    }
    return clean + text.slice(from);
  }

  /** How long the longest form is that begins at a place: none is to be hidden in part because another one is its beginning. */
  #lengthAt(text: string, place: number): number {
    const start = startOf(text, place);
    if (((this.#starts[start >>> 3] ?? 0) & (1 << (start & 7))) === 0) return 0;
    let longest = 0;
    for (const length of this.#lengths) {
      const begins = text.slice(place, place + length);
      if (!this.#secrets.has(begins)) continue;
      for (const form of this.#formsThatBegin(begins))
        if (form.length > longest && text.startsWith(form, place)) longest = form.length;
    }
    return longest;
  }

  #formsThatBegin(begins: string): readonly string[] {
    const made = this.#forms.get(begins);
    if (made !== undefined) return made;
    const secrets = this.#secrets.get(begins) ?? [];
    const forms = [secrets].flat().flatMap((secret) => this.#formsOf(secret));
    const beginning = [...new Set(forms)].filter((form) => form.startsWith(begins));
    this.#forms.set(begins, beginning);
    return beginning;
  }
}

/** 21 bits of the first `minFormLength` characters. */
function startOf(text: string, place: number): number {
  let start = 0;
  for (let at = place; at < place + minFormLength; at++)
    start = Math.imul(start, 0x9e3779b1) + text.charCodeAt(at);
  return Math.imul(start, 0x9e3779b1) >>> 11;
}

/**
 * The value in base64 as it is, and the characters that stand in base64 for it whatever comes before and after it, for each of the
 * three places at which it can begin within a group of three bytes (`user:password` of basic authentication, a whole body).
 */
export function base64Forms(value: string): { readonly whole: string; readonly cores: readonly string[] } {
  const shifted = Buffer.from(`\0\0${value}`);
  const length = shifted.length - 2;
  const encoded = [0, 1, 2].map((offset) => shifted.toString('base64', 2 - offset));
  const cores = encoded.map((text, offset) =>
    text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + length) * 8) / 6)),
  );
  return { whole: encoded[0] ?? '', cores };
}
