const placeholder = '[secret]';

/** Shorter values are left alone: hiding every `a` or `12` would black out all text and still tell what the value is. */
export const shortestForm = 4;

/** Forms that begin alike: secrets often share a prefix. */
interface Family {
  readonly forms: Set<string>;
  /** Longest first, so that a form is not hidden in part because another one is its beginning. */
  readonly lengths: number[];
}

/**
 * What to look for, by its first characters. A thousand accounts bring ten thousand forms: a pattern with so
 * many alternatives takes a third of a second to compile when the first line is written, and tries all of
 * them at every character.
 */
export class FormIndex {
  readonly #byStart = new Map<string, Family>();

  /** A form is at least as long as `shortestForm`. */
  add(form: string): void {
    const start = form.slice(0, shortestForm);
    let family = this.#byStart.get(start);
    if (family === undefined) {
      family = { forms: new Set(), lengths: [] };
      this.#byStart.set(start, family);
    }
    family.forms.add(form);
    if (family.lengths.includes(form.length)) return;
    family.lengths.push(form.length);
    family.lengths.sort((left, right) => right - left);
  }

  /** The first form in the text at or after a place; null when there is none. */
  findFrom(text: string, from: number): { readonly place: number; readonly form: string } | null {
    for (let place = from; place <= text.length - shortestForm; place++) {
      const family = this.#byStart.get(text.slice(place, place + shortestForm));
      const form = family?.lengths
        .map((length) => text.slice(place, place + length))
        .find((candidate) => family.forms.has(candidate));
      if (form !== undefined) return { place, form };
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
