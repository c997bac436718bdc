import { parseDuration } from '../domain/time.ts';
import { sayDuration, sayExactDuration } from './moments.ts';
import { cutEnglish, keptPhrases, type Listener, type Part, type Phrase, phrases, say } from './phrase.ts';

/** Labels come from the configuration. A balance's name is found again only where a sentence names a balance: any text may end like it. */
export const balanceSays = phrases('quantity', { namedBalance: '{label} balance' });

/** `said`: the parts of one text that were said already. They come back in many ways, and each is looked for once. */
interface Retelling extends Listener {
  readonly said: Map<string, string>;
}

type Form = ReturnType<typeof formOf>;

let forms: readonly Form[] = [];

/** A form with fewer letters resembles any text: it counts only if an argument is known too. */
const tellingLetters = 2;

/** A longer text is a list of configuration errors, which are English: it has too many parts to look for. */
const maxLength = 700;

/**
 * A text that was stored, thrown or sent in English (`sentences`), in the language of its reader, with its arguments. A text that is not one
 * of lowwater's sentences stays as it is, such as a vendor's words or those of another version.
 */
export function sayAgain(text: string, { language }: Listener): string {
  return language.id === 'en' || text.length > maxLength
    ? text
    : sayPart(text, { language, said: new Map() });
}

function sayPart(text: string, retelling: Retelling): string {
  const said = retelling.said.get(text) ?? findForm(text, retelling);
  retelling.said.set(text, said);
  return said;
}

function findForm(text: string, reader: Retelling): string {
  const known = keptPhrases();
  // More sentences may be known than before: pages are loaded when they are asked for.
  if (forms.length !== known.length)
    forms = known
      .map(formOf)
      .toSorted((left, right) => rankOf(right) - rankOf(left) || lengthOf(right) - lengthOf(left));
  for (const form of forms) {
    if (!form.words.every((words) => text.includes(words))) continue;
    const shortest = form.pattern.exec(text);
    if (shortest === null) continue;
    // A vendor's words may contain the text between two arguments: of two ways to cut, the one with more known arguments is meant.
    const ways = [shortest, ...(form.names.length > 1 ? [form.longest.exec(text)] : [])].flatMap((groups) =>
      groups?.slice(1).every(isWhole) === true ? argumentsIn(groups, form, reader) : [],
    );
    const most = Math.max(...ways.map(({ known }) => known));
    const meant = ways.find(({ known }) => known === most);
    if (meant !== undefined && (form.letters >= tellingLetters || most > 0))
      return reader.language.fill(form.phrase, meant.given);
  }
  return text;
}

/** The arguments in the reader's language, and how many of them are known sentences. */
function argumentsIn(groups: RegExpExecArray, { names, counts, quoted }: Form, reader: Retelling) {
  let known = 0;
  const given = names.flatMap((name, place): [string, string | number][] => {
    const value = groups[place + 1];
    if (value === undefined) return [];
    if (counts.has(name)) return [[name, Number(value)]];
    const said = quoted.has(name) ? value : sayArgument(value, name, reader);
    if (said !== value && !figure.test(value)) known += 1;
    return [[name, said]];
  });
  // Half a sentence is no sentence: `refusal` has to be a known one. A configuration error, which is English, is not.
  if (names.includes('refusal') && known === 0) return [];
  return { given: Object.fromEntries(given), known };
}

/** Whether an argument is whole: one with only one of two brackets is torn from another sentence. */
function isWhole(argument: string | undefined): boolean {
  return argument === undefined || argument.split('(').length === argument.split(')').length;
}

/** Forms that end with a vendor's words come first: those words are no part of the sentence before them. */
function rankOf({ phrase, letters }: Form): number {
  return phrase.english.endsWith('"{message}"') ? Number.POSITIVE_INFINITY : letters;
}

function lengthOf({ pattern }: Form): number {
  return pattern.source.length;
}

/** The English form of a phrase: its arguments are the groups of the pattern, in the order of `names`; `counts` are the numbers among them. */
function formOf(phrase: Phrase) {
  const names: string[] = [];
  const counts = new Set<string>();
  const sourceOf = (part: Part): string => {
    if (typeof part === 'string') return part.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
    if (part.one === undefined) {
      names.push(part.name);
      if (counts.has(part.name)) return '(\\d+)';
      if (part.name === 'message') return '([^"]+)';
      return part.name === 'amount' ? '(-?[\\d,.]+ [A-Z]{2,}|.+?)' : '(.+?)';
    }
    counts.add(part.name);
    const [one, other] = [part.one, part.other ?? []].map((branch) => branch.map(sourceOf).join(''));
    return `(?:${one}|${other})`;
  };
  const parts = cutEnglish(phrase.english);
  // Words that every such text has: a text without one of them needs no pattern, which is slow.
  const words = parts.filter((part) => typeof part === 'string');
  const source = parts.map(sourceOf).join('');
  const pattern = new RegExp(`^${source}$`, 's');
  // The same pattern with arguments as long as they can be, the first ones first.
  const longest = new RegExp(pattern.source.replaceAll('.+?)', '.+)'), 's');
  // Quoted text and names stay as they are.
  const quoted = new Set([...phrase.english.matchAll(/"\{(\w+)\}"/g)].map(([, name = '']) => name));
  for (const name of givenNames) quoted.add(name);
  // The number of letters that are always there: of several forms, the one with the most is meant.
  const letters = words.join('').replace(/\W/g, '').length;
  return { phrase, pattern, longest, words, names, counts, quoted, letters };
}

/** Arguments that people named: a channel may be called `critical`, a rule `low`. */
const givenNames = ['channel', 'account', 'node', 'nodes', 'name', 'rules'];

/** A number, an amount in its currency or unit, or a share. */
const figure = /^-?[\d,]+(?:\.\d+)?(?:%| [A-Z]{3}|(?<=\.\d+) [a-z][\w-]*)?$/;

const units = { day: 'd', hour: 'h', minute: 'm', second: 's' } as const;

/** An argument in the reader's language: `1h30m`, `3 days 4 hours`, `1234.50 CNY`, or another sentence. */
function sayArgument(text: string, name: string, reader: Retelling): string {
  const short = text.replaceAll(
    /(\d+) (day|hour|minute|second)s?(?: |$)/g,
    (_whole, count: string, unit: keyof typeof units) => count + units[unit],
  );
  const ms = parseDuration(short);
  if (ms !== null) return sayExactDuration(ms, reader);
  if (text === sayDuration(0)) return sayDuration(0, reader);
  if (figure.test(text)) return reader.language.figure(text);
  const said = sayPart(text, reader);
  const [, label] = (name === 'balance' && said === text && /^(.+) balance$/.exec(text)) || [];
  return label === undefined ? said : say(balanceSays.namedBalance, { label }, reader);
}
