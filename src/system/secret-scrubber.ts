import { base64Forms } from '../domain/foreign-text.ts';
import { FormIndex, minFormLength } from '../domain/form-index.ts';
import { parseJson } from '../domain/json.ts';

/** The last guard before a line leaves the process: it hides secrets that libraries put into their messages. */
export class SecretScrubber {
  readonly #forms = new FormIndex(formsOf);

  /** Adds values that must never be printed. Values shorter than four characters are not hidden. */
  add(values: Iterable<string>): void {
    for (const value of values) if (value.length >= minFormLength) this.#forms.add(value);
  }

  /** Hides the values as they are, URL-encoded, escaped for JSON or in base64, also inside a longer text. JSON stays valid JSON. */
  scrub(line: string): string {
    if (!this.#forms.isIn(line)) return line;
    // Strings are decoded first: replacing a value that begins inside an escape would break the line.
    const decoded = line.replace(jsonTokens, (token) => scrubToken(token, this.#forms));
    return this.#forms.replaceAll(decoded);
  }
}

const jsonTokens = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/g;

function scrubToken(token: string, forms: FormIndex): string {
  const text = token.startsWith('"') ? parseJson(token) : token;
  if (typeof text !== 'string') return token;
  const scrubbed = forms.replaceAll(text);
  return scrubbed === text ? token : JSON.stringify(scrubbed);
}

/** Characters that are never escaped in JSON. Keys mostly consist of them, and so does base64. */
const plain = /^[\w.~+/=-]*$/;
const plainInAddresses = /^[\w.~-]*$/;

/** The forms of a value in text, and in text written as JSON. */
function formsOf(value: string): readonly string[] {
  const forms = formsInText(value);
  return forms.every((form) => plain.test(form))
    ? forms
    : [...forms, ...forms.filter((form) => !plain.test(form)).map(escapeForJson)];
}

function formsInText(value: string): readonly string[] {
  const forms = plainInAddresses.test(value) ? [value] : escapedFormsOf(value);
  const { whole, cores } = base64Forms(value);
  for (const encoded of [whole, ...cores]) {
    if (encoded.length < minFormLength) continue;
    forms.push(encoded);
    if (plainInAddresses.test(encoded)) continue;
    // base64url.
    const inAddress = encoded.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
    if (inAddress.length >= minFormLength) forms.push(inAddress);
  }
  return forms;
}

function escapedFormsOf(value: string): string[] {
  const escaped = escapeForJson(value);
  const forms = [value, escaped, escaped.replaceAll('/', '\\/'), escapeNonAscii(escaped)];
  if (!value.isWellFormed()) return forms;
  const encoded = encodeURIComponent(value);
  const lowerCase = encoded.replace(/%[0-9A-F]{2}/g, (octet) => octet.toLowerCase());
  return [
    ...forms,
    encoded,
    encoded.replaceAll('%20', '+'),
    encodeURI(value),
    encodeUserInfo(value),
    lowerCase,
  ];
}

/** The form in which Node's URL returns a password. */
function encodeUserInfo(value: string): string {
  const url = new URL('http://x');
  url.password = value;
  return url.password;
}

function escapeForJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function escapeNonAscii(text: string): string {
  return text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
