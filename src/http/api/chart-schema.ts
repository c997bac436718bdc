import * as z from 'zod';
import type { Chart } from '../../chart/chart.ts';
import type { Micros } from '../../domain/money.ts';
import type { Balance } from '../../domain/reading.ts';
import { balanceSchema, severitySchema } from '../../views/public-json.ts';
import { publicObject } from '../../views/public-object.ts';

export interface AccountChart extends Chart {
  readonly account: string;
  readonly balance: Balance;
  readonly currency: string | null;
}

const instant = z.number();
const amount = z.number();
const corners = z.array(z.tuple([instant, amount]));

export const chartJson = publicObject<AccountChart>()(
  'Chart',
  {
    account: [z.string(), ({ account }) => account],
    balance: [balanceSchema, ({ balance }) => balance],
    currency: [z.string().nullable(), ({ currency }) => currency],
    since: [instant, ({ since }) => since],
    until: [instant, ({ until }) => until],
    now: [instant, ({ now }) => now],
    points: [
      z.array(z.tuple([instant, amount.nullable()])).meta({
        description: 'Instant and amount; null where nothing was read from then on',
      }),
      ({ points }) =>
        points.map(({ at, value }): [number, number | null] => [at, value === null ? null : units(value)]),
    ],
    thresholds: [
      z.array(z.strictObject({ severity: severitySchema, value: amount })).meta({
        description: 'Without those so far away that the line would lie flat',
      }),
      ({ thresholds }) => thresholds.map(({ severity, value }) => ({ severity, value: units(value) })),
    ],
    topUps: [
      z.array(z.strictObject({ at: instant, amount, value: amount })),
      ({ topUps }) => topUps.map(({ at, rise, value }) => ({ at, amount: units(rise), value: units(value) })),
    ],
    incidents: [
      z.array(z.strictObject({ from: instant, to: instant, severity: severitySchema, rule: z.string() })),
      ({ incidents }) => incidents.map(({ from, to, severity, rule }) => ({ from, to, severity, rule })),
    ],
    silences: [
      z.array(z.strictObject({ from: instant, to: instant })),
      ({ silences }) => silences.map(({ from, to }) => ({ from, to })),
    ],
    foretold: [
      corners.meta({ description: 'What was predicted a week ago, with what came' }),
      ({ predicted }) => predicted.map(({ at, value }): [number, number] => [at, units(value ?? 0)]),
    ],
    coming: [
      corners.meta({ description: 'Expected top-ups, and below zero what a monthly run takes' }),
      ({ coming }) => coming.map(({ at, micros }): [number, number] => [at, units(micros)]),
    ],
    projection: [
      corners,
      ({ projection }) => projection.map(({ at, value }): [number, number] => [at, units(value)]),
    ],
    fan: [
      z.array(z.tuple([instant, amount, amount])).meta({
        description: 'Instant, and the 80 % range of the balance then',
      }),
      ({ fan }) => fan.map(({ at, low, high }): [number, number, number] => [at, units(low), units(high)]),
    ],
  },
  'What the chart on the page draws. Instants are milliseconds since 1970. Amounts are rounded to doubles here; history has them exactly.',
);

function units(micros: Micros): number {
  return micros / 1_000_000;
}
