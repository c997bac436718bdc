import { cleanText } from './plain-text.ts';
import { base64Forms, FormIndex } from './secret-forms.ts';

/** Printable ASCII words with single spaces between: nothing to clean. Most usage headers are like this. */
const alreadyClean = /^[!-~]+(?: [!-~]+)*$/;

/**
 * A secret with fewer letters and digits is only searched for as it is written: it would be found in ordinary
 * words.
 */
const minCoreLength = 6;

/** An escaped form of an encoded form. A provider does not nest deeper by accident. */
const maxDecodings = 3;

const placeholder = '[secret]';

/** Makes text from providers fit to be shown, stored and logged. */
export interface ForeignTexts {
  /**
   * One line without invisible characters, at most `limit` code points. A secret that is written out is
   * replaced; text that holds one in any other form is replaced as a whole.
   */
  clean(text: string, limit: number): string;
  holdsSecret(text: string): boolean;
  add(secret: string): void;
}

/**
 * Knows every secret of the configuration, because a provider may mix up its customers and answer with another one's key.
 *
 * Text and secrets are compared by their letters and digits alone, without case, so that nothing that stands between them
 * hides a secret (zero-width characters, escapes, separators). The text is compared as it is and with its escapes undone
 * (percent, `\\u`, `\\x`, octal, HTML, quoted-printable), several times over; the secrets also in hexadecimal, and in base64 at
 * each of the three places where they can begin.
 */
export function createForeignTexts(secrets: Iterable<string>): ForeignTexts {
  const written = new FormIndex((secret) => [secret]);
  const cores = new FormIndex(coresOf);
  const short = new Set<string>();
  let shortest = Number.POSITIVE_INFINITY;

  function add(secret: string): void {
    if (secret === '') return;
    const core = coreOf(secret).length;
    shortest = Math.min(shortest, core < minCoreLength ? secret.length : core);
    if (secret.length < minCoreLength) short.add(secret);
    else written.add(secret);
    cores.add(secret);
  }
  for (const secret of secrets) add(secret);

  function holdsSecret(text: string): boolean {
    if (text.length < shortest) return false;
    if ([...short].some((secret) => text.includes(secret))) return true;
    return decodings(text).some((each) => cores.isIn(coreOf(each)));
  }

  function hideWritten(text: string): string {
    let hidden = written.replaceAll(text);
    for (const secret of short) hidden = hidden.replaceAll(secret, placeholder);
    return hidden;
  }

  return {
    add,
    holdsSecret,
    clean(text, limit) {
      if (text.length < shortest && text.length <= limit && alreadyClean.test(text)) return text;
      // The part that may be shown, plus room for a secret that begins at its end.
      const hidden = hideWritten(cleanText(text, limit * 8));
      // A placeholder must neither join the text around it nor be taken for a part of a secret.
      return holdsSecret(hidden.replaceAll(placeholder, ' ')) ? placeholder : cleanText(hidden, limit);
    },
  };
}

/** What a secret is compared by: as it is, and in each encoding that turns it into other letters and digits. */
function coresOf(secret: string): readonly string[] {
  const forms = [coreOf(secret), Buffer.from(secret).toString('hex')];
  for (const core of base64Forms(secret).cores) forms.push(coreOf(core));
  return forms.every(isCore) ? forms : forms.filter(isCore);
}

function isCore({ length }: string): boolean {
  return length >= minCoreLength;
}

function coreOf(text: string): string {
  // Matching beyond ASCII takes ten times as long and is rarely needed.
  return ascii.test(text)
    ? text.replace(/[^a-z0-9]+/gi, '').toLowerCase()
    : text
        .normalize('NFKD')
        .replace(/[^\p{L}\p{N}]+/gu, '')
        .toLowerCase();
}

const ascii = /^[\x20-\x7e]*$/;

/**
 * The text, and the text with its escapes undone, one kind after the other, as long as that changes anything.
 * Each step counts: one kind may reveal another.
 */
function decodings(text: string): readonly string[] {
  const all = [text];
  if (!/[\\%&=]/.test(text)) return all;
  for (let depth = 0; depth < maxDecodings; depth += 1) {
    const before = all.length;
    for (const undo of undoings) {
      const last = all.at(-1) ?? '';
      const decoded = undo(last);
      if (decoded !== last) all.push(decoded);
    }
    if (all.length === before) break;
  }
  return all;
}

const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
};

const undoings: readonly ((text: string) => string)[] = [
  (text) =>
    text.replace(
      /\\+u([0-9a-f]{4})|\\+u\{([0-9a-f]{1,6})\}|&#x([0-9a-f]{1,6});?|%u([0-9a-f]{4})/gi,
      (_, ...found: (string | undefined)[]) =>
        character(Number.parseInt(found.slice(0, 4).find((digits) => digits !== undefined) ?? '', 16)),
    ),
  (text) => text.replace(/&#(\d{1,7});?/g, (_, digits: string) => character(Number(digits))),
  (text) => text.replace(/&(amp|lt|gt|quot|apos|nbsp);/g, (_, name: string) => named[name] ?? ''),
  (text) => text.replace(/(?:%[0-9a-f]{2})+/gi, octetsOf),
  (text) => text.replace(/(?:\\+x[0-9a-f]{2})+/gi, octetsOf),
  (text) => text.replace(/(?:=[0-9a-f]{2})+/gi, octetsOf),
  (text) => text.replace(/\\([0-3][0-7]{2})/g, (_, digits: string) => character(Number.parseInt(digits, 8))),
  (text) => text.replace(/\\+[nrtbfv0]/g, ' '),
];

function octetsOf(run: string): string {
  return Buffer.from(run.replace(/%|=|\\+x/gi, ''), 'hex').toString();
}

function character(codePoint: number): string {
  return codePoint <= 0x10_ffff ? String.fromCodePoint(codePoint) : '';
}
