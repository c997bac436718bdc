const placeholder = '[secret]';

/** Shorter values are left alone: hiding every `a` or `12` would black out all text and still tell what the value is. */
export const shortestForm = 4;

/** For each form so many places in the table of beginnings: most beginnings that are none are then told from one at once. */
const placesAForm = 8;

/**
 * What to look for, by its first characters. A thousand accounts bring ten thousand forms: a pattern with so
 * many alternatives takes a third of a second to compile when the first line is written, and tries all of
 * them at every character.
 */
export class FormIndex {
  readonly #forms = new Set<string>();
  /** Longest first, so that a form is not hidden in part because another one is its beginning. */
  readonly #lengths: number[] = [];
  /** Where a form may begin so, by a hash of the beginning: a power of two of places. */
  #beginnings = new Uint8Array(1024);

  /** A form is at least as long as `shortestForm`. */
  add(form: string): void {
    const before = this.#forms.size;
    this.#forms.add(form);
    if (this.#forms.size === before) return;
    if (this.#forms.size * placesAForm > this.#beginnings.length) this.#widen();
    else this.#beginnings[this.#placeOf(form, 0)] = 1;
    if (this.#lengths.includes(form.length)) return;
    this.#lengths.push(form.length);
    this.#lengths.sort((left, right) => right - left);
  }

  /** The first form in the text at or after a place; null when there is none. */
  findFrom(text: string, from: number): { readonly place: number; readonly form: string } | null {
    for (let place = from; place <= text.length - shortestForm; place++) {
      if (this.#beginnings[this.#placeOf(text, place)] === 0) continue;
      for (const length of this.#lengths) {
        const form = text.slice(place, place + length);
        if (this.#forms.has(form)) return { place, form };
      }
    }
    return null;
  }

  replaceAll(text: string): string {
    let clean = '';
    let from = 0;
    for (let found = this.findFrom(text, 0); found !== null; found = this.findFrom(text, from)) {
      clean += text.slice(from, found.place) + placeholder;
      from = found.place + found.form.length;
    }
    return clean + text.slice(from);
  }

  #widen(): void {
    this.#beginnings = new Uint8Array(this.#beginnings.length * 4);
    for (const form of this.#forms) this.#beginnings[this.#placeOf(form, 0)] = 1;
  }

  /** By the first `shortestForm` characters. */
  #placeOf(text: string, at: number): number {
    let hash = 0;
    for (let next = at; next < at + shortestForm; next++)
      hash = Math.imul(hash ^ text.charCodeAt(next), 0x9e3779b1);
    return (hash >>> 8) & (this.#beginnings.length - 1);
  }
}

/**
 * The characters that stand in base64 for the value whatever comes before and after it, for each of the three places at
 * which it can begin within a group of three bytes (`user:password` of basic authentication, a whole body).
 */
export function base64Cores(utf8: Buffer): string[] {
  return [0, 1, 2].map((offset) => {
    const shifted = offset === 0 ? utf8 : Buffer.concat([zeros.subarray(0, offset), utf8]);
    const firstSure = Math.ceil((offset * 8) / 6);
    const lastSure = Math.floor((shifted.length * 8) / 6);
    return shifted.toString('base64').slice(firstSure, lastSure);
  });
}

const zeros = Buffer.alloc(2);
