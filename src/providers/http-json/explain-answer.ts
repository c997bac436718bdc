import type { ForeignTexts } from '../../domain/foreign-text.ts';
import { formatMicros } from '../../domain/money.ts';
import type { ProviderAnswer, ReadPart } from '../kind.ts';
import { parseAnswer } from './answer-document.ts';
import type { AmountDescription, Description, Test } from './description.ts';
import { type Path, parseExactly } from './json-path.ts';
import { readAmount } from './read-amount.ts';
import { holds, quoteValue, readCurrency } from './read-answer.ts';

/** Every path of a description with what it finds, in the order in which an answer is read. Empty if the answer is no JSON. */
export function explainAnswer(
  description: Description,
  answer: ProviderAnswer,
  texts: ForeignTexts,
): readonly ReadPart[] {
  const json = parseAnswer(description, answer);
  if (json === null) return [];
  const quote = (value: unknown): string => quoteValue(value, texts);
  const part = (what: string, path: Path, read: string): ReadPart => {
    const found = json.find(path).map(({ value, digits }) => digits ?? quote(value));
    return { what, where: path.text, found: found.length === 0 ? 'nothing' : found.join(', '), read };
  };
  const test = (what: string, of: Test): ReadPart => part(what, of.path, holds(of, json) ? 'yes' : 'no');
  const amount = (what: string, how: AmountDescription): readonly ReadPart[] => {
    const read = readAmount(json, how, quote);
    const terms = [how.plus, how.minus].filter((path) => path !== undefined);
    return [
      part(what, how.amount, 'wrong' in read ? read.wrong : formatMicros(read.value)),
      ...terms.map((path) => part(path === how.minus ? '  less' : '  and', path, '')),
    ];
  };
  const { errors, success, postpaid, balances, currency, facts } = description;
  const read = readCurrency(currency, json, quote);
  return [
    ...errors.flatMap((row) => (row.test === null ? [] : [test(`error ${row.means}`, row.test)])),
    ...(success === undefined ? [] : [test('success', success)]),
    ...postpaid.map((each) => test('not prepaid', each)),
    ...balances.flatMap((balance) => amount(`balance ${balance.id}`, balance)),
    ...('path' in currency
      ? [part('currency', currency.path, 'wrong' in read ? read.wrong : read.value)]
      : []),
    ...(facts.autoRecharge === undefined ? [] : [test('automatic recharge', facts.autoRecharge)]),
    ...(facts.creditLimit === undefined ? [] : amount('credit limit', facts.creditLimit)),
    ...(facts.pending === undefined ? [] : amount('pending', facts.pending)),
  ];
}

/** A body with what the paths of a description find in it; everything else is shown as its name and type only. */
export function showAnswer(description: Description, answer: ProviderAnswer, texts: ForeignTexts): string {
  const { body } = answer;
  const json = body === null || description.format === 'text' ? null : parseExactly(body);
  if (json === null) return texts.clean(body ?? '', maxUnread);
  const { request: _request, sign: _sign, token: _token, ...read } = description;
  const found = pathsOf(read).flatMap((path) => json.find(path));
  const shown = new Set(found.map(({ location }) => JSON.stringify(location)));
  const show = (value: unknown, location: readonly (string | number)[]): string => {
    const of = (key: string | number, each: unknown) => show(each, [...location, key]);
    if (Array.isArray(value)) return `[${value.map((each, index) => of(index, each)).join(',')}]`;
    if (typeof value === 'object' && value !== null) {
      const members = Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}:${of(key, each)}`);
      return `{${members.join(',')}}`;
    }
    if (typeof value === 'symbol') return `<${value.description}>`;
    if (shown.has(JSON.stringify(location)) || typeof value === 'boolean' || value === null)
      return json.digitsAt(location) ?? JSON.stringify(value);
    return typeof value === 'string' ? '<text>' : '<number>';
  };
  return show(json.root, []);
}

/** The most characters of an answer that could not be read: its beginning is enough. */
const maxUnread = 300;

/** Every path below a part of a description. */
function pathsOf(part: unknown): readonly Path[] {
  if (typeof part !== 'object' || part === null) return [];
  return 'query' in part && 'text' in part ? [part as Path] : Object.values(part).flatMap(pathsOf);
}
