import { dayMs } from '../../domain/duration.ts';
import { isDay } from '../../domain/moment.ts';
import type { Spot } from '../draft.ts';
import type { CronCheck } from './check-schedules.ts';

const code = /^[A-Z]{3}$/;
/** Older ones are a mistake. Rates that grow old in use are warned of: a daemon must start with them. */
const firstDay = '2020-01-01';

/** Rates must be above 0, of currencies, and of a day that is not long ago. */
export function checkMoney(file: Spot, { now }: CronCheck): void {
  const money = file.at('money');
  if (typeof money.value !== 'object' || money.value === null) return;
  const currency = money.at('currency');
  if (currency.text !== null && !code.test(currency.text))
    currency.report('must be a currency code of three capital letters, such as "EUR"');
  const rates = money.at('rates');
  for (const key of rates.keys()) {
    const rate = rates.at(key);
    if (key === 'date') checkDate(rate, now);
    else if (!code.test(key)) rate.report('must be a currency code of three capital letters');
    else if (!rate.isBroken && !(Number(rate.value) > 0))
      rate.report('must be a number above 0, as text: how much of money.currency one unit is');
  }
}

function checkDate(date: Spot, now: number): void {
  if (date.isBroken) return;
  const at = date.text !== null && isDay(date.text) ? Date.parse(date.text) : Number.NaN;
  if (Number.isNaN(at)) date.report('must be the day of the rates, such as "2026-11-20"');
  else if (at > now + dayMs) date.report('must not lie in the future');
  else if (at < Date.parse(firstDay)) date.report(`must not be before ${firstDay}`);
}
