import * as z from 'zod';
import { formatMicros } from '../../domain/money.ts';
import type { OneSum } from '../../domain/one-sum.ts';
import { money } from '../../views/public-object.ts';

export const oneSum = z.strictObject({
  currency: z.string(),
  amount: money,
  ratesOf: z.string().nullable().describe('The day of the rates; null before any were read'),
  missing: z.array(z.string()).describe('Currencies without a rate: not in the sum'),
});

export function sumJson({ currency, micros, date: ratesOf, missing }: OneSum): z.output<typeof oneSum> {
  return { currency, amount: formatMicros(micros), ratesOf, missing: [...missing] };
}

export const oneSumJson = (sum: OneSum | null) => sum && sumJson(sum);
