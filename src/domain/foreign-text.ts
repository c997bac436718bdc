import { beginning, FormIndex, placeholder } from './form-index.ts';
import { isCurrencyCode } from './money.ts';
import { cleanText } from './plain-text.ts';

/** A secret with fewer letters and digits is only searched for as it is written, because ordinary words contain them. */
const minCoreLength = 6;

/** Enough for an escaped form of an encoded form: a provider does not nest deeper by accident. */
const maxDecodings = 3;

/** Answers are read up to this size. */
const maxSearched = 64 * 1024;

/** Makes text from providers fit to be shown, stored and logged. */
export interface ForeignTexts {
  /** One line, at most `limit` code points. A secret that is written out is replaced; if one occurs in another form, the whole text is replaced. */
  clean(text: string, limit: number): string;
  holdsSecret(text: string): boolean;
  add(secret: string): void;
  /** Takes back one `add` of a secret that is no longer valid, such as a token. */
  remove(secret: string): void;
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
  // A key of several lines is shown in one line.
  const written = new FormIndex((secret) => [...new Set([secret, cleanText(secret, maxSearched)])]);
  const cores = new FormIndex(coresOf);
  const short = new Set<string>();
  const counts = new Map<string, number>();
  let shortest = Number.POSITIVE_INFINITY;

  function add(secret: string): void {
    const count = counts.get(secret) ?? 0;
    if (secret !== '') counts.set(secret, count + 1);
    if (secret === '' || count > 0) return;
    const core = coreOf(secret).length;
    shortest = Math.min(shortest, core < minCoreLength ? secret.length : core, beginning);
    if (secret.length < minCoreLength) short.add(secret);
    else written.add(secret);
    cores.add(secret);
  }
  for (const secret of secrets) add(secret);

  function remove(secret: string): void {
    const count = counts.get(secret) ?? 0;
    if (count > 1) counts.set(secret, count - 1);
    if (count !== 1) return;
    counts.delete(secret);
    short.delete(secret);
    written.remove(secret);
    cores.remove(secret);
  }

  /** Whether the text holds a secret outside the parts that are already hidden. */
  function holdsCore(text: string, known: readonly string[] = []): boolean {
    return decodings(text).some((each) =>
      cores.formsIn(coreOf(each)).some(([, form]) => !known.some((core) => core.includes(form))),
    );
  }

  return {
    add,
    remove,
    holdsSecret: (text) =>
      text.length >= shortest &&
      // A currency code is never hidden, although a credential may be one (a wallet `USD`) or begin one (a region `EU`).
      !isCurrencyCode(text) &&
      ([...short].some((secret) => text.includes(secret)) || holdsCore(text)),
    clean(text, limit) {
      if (text.length < shortest) return cleanText(text, limit);
      // Searched before the text is cut, because a secret that begins within the limit may end far behind it.
      const line = cleanText(text, maxSearched);
      const known = [...written.formsIn(line)].flatMap(([, form]) => decodings(form).map(coreOf));
      let hidden = known.length === 0 ? line : written.replaceAll(line);
      // A placeholder must neither join the text around it nor be taken for a part of a secret.
      if (holdsCore(hidden.replaceAll(placeholder, ' '))) return placeholder;
      // A hidden secret may be part of another one that is encoded, which would no longer be recognized.
      if (known.length > 0 && holdsCore(line, known)) return placeholder;
      // Short ones come last: one may stand by chance within an encoded form of another secret, which would no longer be recognized.
      for (const secret of short) hidden = hidden.replaceAll(secret, placeholder);
      return cleanText(hidden, limit);
    },
  };
}

/** The texts that a secret is compared by: itself, its middle, and each encoding that turns it into other letters and digits. */
function coresOf(secret: string): readonly string[] {
  const core = coreOf(secret);
  const forms = [core];
  const middle = (core.length - beginning) >> 1;
  // A piece of a key that is most of it contains the key's middle, wherever it was cut. The middle of an address may be its host.
  if (middle > 2 && !/^\/|:\/\//.test(secret)) forms.push(core.slice(middle, middle + beginning));
  // A request that is encoded as a whole contains the secret as the request has it.
  const inAddress = encodeURIComponent(secret.toWellFormed());
  for (const sent of new Set([secret, inAddress, JSON.stringify(secret).slice(1, -1)]))
    forms.push(Buffer.from(sent).toString('hex'), ...base64Forms(sent).cores.map(coreOf));
  return forms.filter(({ length }) => length >= minCoreLength);
}

function coreOf(text: string): string {
  // Matching beyond ASCII takes ten times as long and is rarely needed.
  return ascii.test(text)
    ? text.replace(/[^a-z0-9]+/gi, '').toLowerCase()
    : text
        // Marks are removed before they are put in order, which takes long when there are many: none becomes a letter.
        .replace(/\p{M}+/gu, '')
        .normalize('NFKD')
        .replace(/[^\p{L}\p{N}]+/gu, '')
        .toLowerCase();
}

const ascii = /^[\x20-\x7e]*$/;

/** The text, and the text with its escapes undone, one kind after the other, as long as that changes anything: one may reveal another. */
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
      /(?<!\\)\\+u([0-9a-f]{4})|(?<!\\)\\+u\{([0-9a-f]{1,6})\}|&#x([0-9a-f]{1,6});?|%u([0-9a-f]{4})/gi,
      (_, ...found: (string | undefined)[]) =>
        character(Number.parseInt(found.slice(0, 4).find((digits) => digits !== undefined) ?? '', 16)),
    ),
  (text) => text.replace(/&#(\d{1,7});?/g, (_, digits: string) => character(Number(digits))),
  (text) => text.replace(/&(amp|lt|gt|quot|apos|nbsp);/g, (_, name: string) => named[name] ?? ''),
  (text) => text.replace(/(?:%[0-9a-f]{2})+/gi, octetsOf),
  (text) => text.replace(/(?:(?<!\\)\\+x[0-9a-f]{2})+/gi, octetsOf),
  (text) => text.replace(/(?:=[0-9a-f]{2})+/gi, octetsOf),
  (text) => text.replace(/\\([0-3][0-7]{2})/g, (_, digits: string) => character(Number.parseInt(digits, 8))),
  (text) => text.replace(/(?<!\\)\\+[nrtbfv0]/g, ' '),
];

function octetsOf(run: string): string {
  return Buffer.from(run.replace(/%|=|\\+x/gi, ''), 'hex').toString();
}

function character(codePoint: number): string {
  return codePoint <= 0x10_ffff ? String.fromCodePoint(codePoint) : '';
}

/**
 * The value in base64, and for each of the three places at which it can begin within a group of three bytes the characters that stand for it
 * whatever comes before and after it, as in `user:password` of basic authentication or in a whole body.
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
