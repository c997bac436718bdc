import type { ForeignTexts } from '../../domain/foreign-text.ts';
import { formatMicros } from '../../domain/money.ts';
import type { ProviderAnswer, ReadPart } from '../kind.ts';
import type { AmountDescription, Description, Test } from './description.ts';
import { ExactJson, type Path } from './json-path.ts';
import { readAmount } from './read-amount.ts';
import { holds, quoteValue, readCurrency } from './read-answer.ts';

/** Every path of a description with what stands there, in the order in which an answer is read. Empty where it is no JSON. */
export function explainAnswer(
  description: Description,
  { body }: ProviderAnswer,
  texts: ForeignTexts,
): readonly ReadPart[] {
  const json = body === null ? null : ExactJson.parse(body);
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
