import type { OneSum } from '../domain/one-sum.ts';
import type { Reader } from './moments.ts';
import { phrases, say } from './phrase.ts';
import { sayAmount } from './quantity-wording.ts';

const says = phrases('oneSum', {
  sum: '{amount} at the rates of {date}',
  sumWithout: '{amount} at the rates of {date}, without {missing}: no rate',
  noRates: '{amount}, without {missing}: no rates were read yet',
});

/** It says its rates, and what is not in it. */
export function saySum({ micros, currency, date, missing }: OneSum, reader: Reader): string {
  const amount = sayAmount(micros, { ...reader, currency });
  if (missing.length === 0) return date === null ? amount : say(says.sum, { amount, date }, reader);
  const given = { amount, missing: reader.language.list(missing) };
  return date === null ? say(says.noRates, given, reader) : say(says.sumWithout, { ...given, date }, reader);
}
