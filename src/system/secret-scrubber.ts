const placeholder = '[secret]';

/** Shorter values are left alone: hiding every `a` or `12` would black out the log and still tell what the value is. */
const shortestValue = 4;

export interface SecretScrubber {
  /** Adds values that must never be printed. Values shorter than four characters are not hidden. */
  add(values: Iterable<string>): void;
  /**
   * The text without any known value, be it as it is, URL-encoded, escaped for JSON or in base64 (also as a
   * part of a longer encoded text). A line that is JSON stays JSON.
   */
  scrub(line: string): string;
}

/**
 * The last guard before a line leaves the process. Code is written so that secrets never come near a message;
 * this catches what libraries put into theirs.
 */
export function createSecretScrubber(): SecretScrubber {
  const values = new Set<string>();
  const inText = new FormIndex();
  const inLine = new FormIndex();
  return {
    add(added) {
      for (const value of added) {
        if (value.length < shortestValue || values.has(value)) continue;
        values.add(value);
        for (const form of formsOf(value)) {
          inText.add(form);
          inLine.add(form);
          inLine.add(escapeForJson(form));
        }
      }
    },
    scrub(line) {
      if (inLine.findFrom(line, 0) === null) return line;
      // Text inside the quotes is decoded first: a value that begins in the middle of an escape would break the line.
      const decoded = line.replace(jsonTokens, (token) => scrubToken(token, inText));
      return inLine.replaceAll(decoded);
    },
  };
}

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
class FormIndex {
  readonly #byStart = new Map<string, Family>();

  /** A form is at least as long as `shortestValue`. */
  add(form: string): void {
    const start = form.slice(0, shortestValue);
    const family = this.#byStart.get(start) ?? { forms: new Set(), lengths: [] };
    this.#byStart.set(start, family);
    family.forms.add(form);
    if (family.lengths.includes(form.length)) return;
    family.lengths.push(form.length);
    family.lengths.sort((left, right) => right - left);
  }

  /** The first form in the text at or after a place; null when there is none. */
  findFrom(text: string, from: number): { readonly place: number; readonly form: string } | null {
    for (let place = from; place <= text.length - shortestValue; place++) {
      const family = this.#byStart.get(text.slice(place, place + shortestValue));
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

/** A JSON string, or a number outside of one. */
const jsonTokens = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

function scrubToken(token: string, inText: FormIndex): string {
  const text = token.startsWith('"') ? readJsonString(token) : token;
  if (text === null) return token;
  const scrubbed = inText.replaceAll(text);
  return scrubbed === text ? token : JSON.stringify(scrubbed);
}

function readJsonString(token: string): string | null {
  try {
    return String(JSON.parse(token));
  } catch {
    return null;
  }
}

/** How a value may look inside a text. */
function formsOf(value: string): string[] {
  const utf8 = Buffer.from(value);
  const escaped = escapeForJson(value);
  const forms = [value, escaped, escaped.replaceAll('/', '\\/'), escapeNonAscii(escaped)];
  if (value.isWellFormed()) {
    const encoded = encodeURIComponent(value);
    forms.push(encoded, encoded.replaceAll('%20', '+'), encodeURI(value), encodeUserInfo(value));
    forms.push(encoded.replace(/%[0-9A-F]{2}/g, (octet) => octet.toLowerCase()));
  }
  for (const encoding of ['base64', 'base64url'] as const) {
    forms.push(utf8.toString(encoding), ...partsOfBase64(utf8, encoding));
  }
  return forms.filter((form) => form.length >= shortestValue);
}

/** The value as Node's URL gives it back after it stood as the password of an address. */
function encodeUserInfo(value: string): string {
  const url = new URL('http://x');
  url.password = value;
  return url.password;
}

/**
 * The characters that stand in base64 for the value whatever comes before and after it, for each of the three places at
 * which it can begin within a group of three bytes (`user:password` of basic authentication, a whole body).
 */
function partsOfBase64(utf8: Buffer, encoding: 'base64' | 'base64url'): string[] {
  return [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), utf8])
      .toString(encoding)
      .replace(/=+$/, '');
    const firstSure = Math.ceil((offset * 8) / 6);
    const lastSure = Math.floor(((offset + utf8.length) * 8) / 6);
    return text.slice(firstSure, lastSure);
  });
}

function escapeForJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** As writers of ASCII-only JSON escape it. */
function escapeNonAscii(text: string): string {
  return text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
