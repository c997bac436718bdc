import { base64Cores, FormIndex, shortestForm } from '../domain/secret-forms.ts';

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
        if (value.length < shortestForm || values.has(value)) continue;
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
    forms.push(utf8.toString(encoding), ...base64Cores(utf8, encoding));
  }
  return forms.filter((form) => form.length >= shortestForm);
}

/** The value as Node's URL gives it back after it stood as the password of an address. */
function encodeUserInfo(value: string): string {
  const url = new URL('http://x');
  url.password = value;
  return url.password;
}

function escapeForJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** As writers of ASCII-only JSON escape it. */
function escapeNonAscii(text: string): string {
  return text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
