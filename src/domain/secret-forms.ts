const placeholder = '[secret]';

/**
 * Shorter values are not hidden: replacing every `a` or `12` would black out all text and still reveal the
 * value.
 */
export const minFormLength = 4;

/** A text that has so many first characters of a form hardly ever has it by chance. */
const beginning = 16;

/**
 * What to look for: every form of each secret. Fifty thousand accounts bring a quarter of a million forms, and hardly any text ever
 * holds one: kept are hashes of how forms begin, and the forms are made when a text has such a beginning.
 */
export class FormIndex {
  readonly #formsOf: (secret: string) => readonly string[];
  readonly #beginnings = new HashedTexts();
  readonly #forms = new HashedTexts();
  /** Secrets of which only the beginnings are known. */
  #unmade: string[] = [];

  /** No form is shorter than `minFormLength`. */
  constructor(formsOf: (secret: string) => readonly string[]) {
    this.#formsOf = formsOf;
  }

  add(secret: string): void {
    for (const form of this.#formsOf(secret)) this.#beginnings.add(form, beginning);
    this.#unmade.push(secret);
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
    if (this.#beginnings.maxAt(text, place) === 0) return 0;
    for (const secret of this.#unmade) for (const form of this.#formsOf(secret)) this.#forms.add(form);
    this.#unmade = [];
    return this.#forms.maxAt(text, place);
  }
}

/** The two hashes of nothing. */
const basis = 0x811c9dc5;
const otherBasis = 0x9747b28c;

/**
 * Texts, each kept as a hash of 64 bits, which takes a fifth of the memory. That another text has the same is not to be expected,
 * and would hide that text.
 */
class HashedTexts {
  /** Pairs of hashes, each at the place that its first one names or at the next that was free; 0 and 0 where there is none. */
  #pairs = new Int32Array(256);
  #count = 0;
  /** 1 at each length that a text has. */
  #lengths = new Uint8Array(64);
  readonly #starts = new Uint8Array(2 ** 18);

  /** Its first `most` characters. None is shorter than `minFormLength`. */
  add(text: string, most = text.length): void {
    const length = Math.min(text.length, most);
    let hash = basis;
    let other = otherBasis;
    for (let at = 0; at < length; at++) {
      hash = step(hash, text.charCodeAt(at));
      other = otherStep(other, text.charCodeAt(at));
      if (at === minFormLength - 1)
        this.#starts[startByte(hash)] = (this.#starts[startByte(hash)] ?? 0) | startBit(hash);
    }
    if (length >= this.#lengths.length) {
      const shorter = this.#lengths;
      this.#lengths = new Uint8Array(length * 2);
      this.#lengths.set(shorter);
    }
    this.#lengths[length] = 1;
    const at = this.#find(hash, other);
    if (this.#pairs[at] === hash && this.#pairs[at + 1] === other) return;
    this.#pairs[at] = hash;
    this.#pairs[at + 1] = other;
    this.#count += 1;
    // Half of the places stay empty, so that a search ends soon.
    if (this.#count * 4 > this.#pairs.length) this.#widen();
  }

  /** The length of the longest one that begins at this place of a text; 0 where none does. */
  maxAt(text: string, place: number): number {
    let hash = basis;
    let other = otherBasis;
    let longest = 0;
    const most = Math.min(this.#lengths.length - 1, text.length - place);
    for (let length = 1; length <= most; length++) {
      hash = step(hash, text.charCodeAt(place + length - 1));
      other = otherStep(other, text.charCodeAt(place + length - 1));
      if (length === minFormLength && ((this.#starts[startByte(hash)] ?? 0) & startBit(hash)) === 0) return 0;
      if (this.#lengths[length] !== 1) continue;
      const at = this.#find(hash, other);
      if (this.#pairs[at] === hash && this.#pairs[at + 1] === other) longest = length;
    }
    return longest;
  }

  /** Where the pair stands, or would. */
  #find(hash: number, other: number): number {
    const last = this.#pairs.length - 1;
    let at = (Math.imul(hash, 0x9e3779b1) >>> 6) & last & ~1;
    while (this.#pairs[at] !== 0 || this.#pairs[at + 1] !== 0) {
      if (this.#pairs[at] === hash && this.#pairs[at + 1] === other) break;
      at = (at + 2) & last;
    }
    return at;
  }

  #widen(): void {
    const before = this.#pairs;
    this.#pairs = new Int32Array(before.length * 2);
    for (let from = 0; from < before.length; from += 2) {
      const hash = before[from] ?? 0;
      const other = before[from + 1] ?? 0;
      if (hash === 0 && other === 0) continue;
      const at = this.#find(hash, other);
      this.#pairs[at] = hash;
      this.#pairs[at + 1] = other;
    }
  }
}

/** The bits that differ most, of the 21 that name one of the bits. */
function startByte(hash: number): number {
  return hash >>> 14;
}

function startBit(hash: number): number {
  return 1 << ((hash >>> 11) & 7);
}

function step(hash: number, unit: number): number {
  return Math.imul(hash ^ unit, 0x01000193);
}

function otherStep(hash: number, unit: number): number {
  return Math.imul(((hash << 7) | (hash >>> 25)) ^ unit, 0x85ebca6b);
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
