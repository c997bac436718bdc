import { currencyCode, isCurrencyCode, isSameCurrency } from '../../domain/money.ts';
import { faultOfDay } from '../../domain/one-sum.ts';
import { providerKinds } from '../../providers/registry.ts';
import { listWords } from '../../wording/lists.ts';
import { readRatesEntry } from '../build-settings.ts';
import type { Position } from '../draft.ts';
import { rateForm } from '../schema/config.ts';

const codeForm = 'must be a currency code of three capital letters, such as "EUR"';
/** Kinds whose requests are described in the file. */
const describedTypes = providerKinds.flatMap(({ requestKeys, type }) => (requestKeys ? [type] : []));
const ofSource = ['provider', 'every', 'inverted'];

/** Rates must be above 0, of known currencies, and of a recent day; or be read from a source that has them. */
export function checkMoney(file: Position): void {
  const money = file.at('money');
  if (typeof money.value !== 'object' || money.value === null) return;
  const currency = money.at('currency');
  if (currency.text !== null && !isCurrencyCode(currency.text)) currency.report(codeForm);
  const rates = money.at('rates');
  const isRead = rates.has('provider');
  for (const key of rates.keys()) checkRate(key, rates.at(key), isRead);
  for (const { key, text } of ratesAgain(rates, currency.text ?? '')) rates.at(key).report(text);
  if (isRead) checkSource(file, currency.text);
  else if (!rates.has('date')) rates.report('needs the "date" of the rates, or the "provider" of them');
}

/** Rates that are given twice for a currency, or for the currency of the sums, whose rate is 1: it would be unclear which one counts. */
function ratesAgain(
  rates: Position,
  base: string,
): readonly { readonly key: string; readonly text: string }[] {
  const own = rates.keys().filter((key) => isCurrencyCode(key) && isSameCurrency(key, base));
  const text = 'must be 1: it is money.currency itself, of which the others say how much they are';
  return [
    ...own.filter((key) => Number(rates.at(key).value) !== 1).map((key) => ({ key, text })),
    ...(rates.has('RMB') && rates.has('CNY') ? [{ key: 'RMB', text: 'is CNY, which stands here too' }] : []),
  ];
}

function checkRate(key: string, rate: Position, isRead: boolean): void {
  if (ofSource.includes(key)) {
    if (!isRead) rate.report('is for rates that are read: needs "provider"');
  } else if (isRead) rate.report('stands in the file, but the rates are read: either, not both');
  else if (key === 'date') checkDate(rate);
  else if (!isCurrencyCode(key)) rate.report('must be a currency code of three capital letters');
  else if (!rate.isBroken && !isRate(String(rate.value))) rate.report(rateForm);
}

function isRate(text: string): boolean {
  return /^\d{1,12}(\.\d{1,20})?$/.test(text) && Number(text) > 0;
}

/** A day in the future is only warned of (`find-warnings.ts`): a clock that was never set must not keep a daemon from its polls. */
function checkDate(date: Position): void {
  const problem = date.isBroken ? null : faultOfDay(date.text ?? '');
  if (problem !== null) date.report(problem);
}

function checkSource(file: Position, currency: string | null): void {
  const provider = file.at('money', 'rates', 'provider');
  const { entry, problems } = readRatesEntry(file);
  for (const { path, message } of problems) provider.at(...path).report(message);
  if (entry === null) return;
  if (!describedTypes.includes(entry.type)) {
    provider.at('type').report(`must be ${listWords(describedTypes)}`);
    return;
  }
  if (entry.credentialNames.length > 0)
    provider.at('request').report('has no account with credentials: a key is put in by a placeholder');
  const codes = entry.balances.map(({ id }) => currencyCode(id));
  for (const [index, id] of codes.entries())
    if (!isCurrencyCode(id))
      provider.at('balances', index, 'id').report('must be a currency in small letters, such as "cny"');
  const fixed = provider.at('currency', 'fixed');
  if (fixed.text === null) return;
  const wanted = currencyCode(currency ?? '');
  const base = currencyCode(fixed.text);
  // The value may be a secret, put there by a wrong placeholder.
  if (!isCurrencyCode(base)) fixed.report(codeForm);
  else if (isCurrencyCode(wanted) && ![...codes, base].includes(wanted))
    provider.at('balances').report(`must have money.currency, ${wanted}: the rates are of ${base}`);
}
