import * as z from 'zod';
import { balanceSchema, severitySchema } from '../../views/public-json.ts';

export const chartSchema = z
  .strictObject({
    account: z.string(),
    balance: balanceSchema,
    currency: z.string().nullable(),
    since: z.number(),
    until: z.number(),
    now: z.number(),
    points: z
      .array(z.tuple([z.number(), z.number().nullable()]))
      .meta({ description: 'Instant and amount; null where polls failed' }),
    thresholds: z.array(z.strictObject({ severity: severitySchema, value: z.number() })),
    topUps: z.array(z.strictObject({ at: z.number(), amount: z.number(), value: z.number() })),
    incidents: z.array(
      z.strictObject({ from: z.number(), to: z.number(), severity: severitySchema, rule: z.string() }),
    ),
    projection: z.array(z.tuple([z.number(), z.number()])),
    fan: z.array(z.tuple([z.number(), z.number(), z.number()])).meta({
      description: 'Instant, and between which amounts the balance lies then, four times in five',
    }),
  })
  .meta({
    id: 'Chart',
    description:
      'What the chart on the page draws. Instants are milliseconds since 1970. Amounts are rounded to doubles here; history has them exactly.',
  });

export type ChartJson = z.infer<typeof chartSchema>;
