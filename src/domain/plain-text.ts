/**
 * Text from outside (names, reasons, currencies) made fit to stand in one line of any medium: control
 * characters, line breaks, direction overrides and invisible characters are removed, lone surrogates
 * replaced, and what is longer than `limit` code points is cut with an ellipsis. Escaping for a medium is the
 * renderer's part.
 */
export function cleanText(text: string, limit: number): string {
  if (text.length <= limit && alreadyPlain.test(text)) return text;
  // A generous cut first: the expressions below must not walk megabytes.
  const wellFormed = text.slice(0, limit * 8).toWellFormed();
  return cutText(
    wellFormed.replace(lineBreaks, ' ').replace(unprintable, '').replace(/ {2,}/g, ' ').trim(),
    limit,
  );
}

/**
 * Letters, digits and signs in the width that a Chinese keyboard gives them, changed to their usual width. Raised and circled digits stay,
 * because they mean another number than they look like.
 */
export function narrowed(text: string): string {
  return text.replace(/[\u3000\uFE50-\uFE6F\uFF00-\uFFEF]/g, (wide) => wide.normalize('NFKC'));
}

/** A currency or a unit, never cut, because that would be another name: no reading has one longer than 16 characters. */
export function cleanCurrency(name: string): string {
  return cleanText(name, 16);
}

/** The last code point is an ellipsis when something was cut. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const points = Array.from(text);
  if (points.length <= limit) return text;
  return `${points
    .slice(0, limit - 1)
    .join('')
    .trimEnd()}…`;
}

/** Longer than any sentence of ours in any language, even that of a report with twenty long names: only a text from outside is cut. */
export function cutSentence(text: string): string {
  return cutText(text, 2500);
}

/** As many whole lines as fit: none is cut within a figure or an address. */
export function cutLines(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const end = text.lastIndexOf('\n', limit - 2);
  return end > 0 ? `${text.slice(0, end)}\n…` : cutText(text, limit);
}

/** Printable ASCII words with single spaces between, as most names are. */
const alreadyPlain = /^[!-~]+(?: [!-~]+)*$/;

const lineBreaks = /[\t\n\v\f\r\u0085\u2028\u2029\u00a0]+/g;

/** Control characters, and those that reorder or hide text. Joiners stay: scripts and emoji need them. */
const unprintable =
  /[\p{Cc}\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff\u{e0000}-\u{e007f}]/gu;

/** Text for a terminal: foreign text cannot move its cursor, set its title, conceal or reorder. Lines and our own colours stay. */
export function forTerminal(text: string): string {
  const start = text.startsWith(clearLine) ? clearLine : '';
  return start + text.slice(start.length).replace(terminalMarks, '');
}

const esc = '\u001b';
const clearLine = `\r${esc}[K`;
/** Our colours hide nothing: black and white are not among them, and the only background is that of the log's FATAL. */
const terminalMarks = new RegExp(
  `(?![\n\t]|${esc}\\[(?:[0-2]|22|3[1-69]|41(?=mFATAL${esc}\\[49m)|49|90)m)[\\p{Cc}\u202a-\u202e\u2066-\u2069]`,
  'gu',
);

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** The text with a capital first letter; a word with capitals of its own, such as `eSIM`, stays. */
export function capital(text: string): string {
  return /^\p{Ll}+\p{Lu}/u.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
}
