import * as z from 'zod';
import { formatMicros, type Micros } from '../domain/money.ts';
import type { Quantity } from '../domain/quantity.ts';
import { outcomeKinds } from '../domain/reading.ts';
import { severities } from '../domain/severity.ts';
import { isoText } from '../domain/time.ts';

type Fields<View, Shape extends z.ZodRawShape> = {
  readonly [Key in keyof Shape]: readonly [
    schema: Shape[Key],
    value: (view: View, key: Key) => z.output<Shape[Key]>,
  ];
};

/** Each key with its schema and the source of its value. The schema is for the API's document: `id` names it. */
export function publicObject<View>() {
  return <Shape extends z.ZodRawShape>(id: string, fields: Fields<View, Shape>, description?: string) => {
    const entries = Object.entries(fields) as readonly [string, Fields<View, Shape>[string]][];
    // `Fields` has one for each key of the shape, and `fromEntries` forgets which.
    const shape = Object.fromEntries(Object.entries(fields).map(([key, [schema]]) => [key, schema])) as Shape;
    const schema = z.strictObject(shape).meta({ id, ...(description !== undefined && { description }) });
    const toPublic = (view: View) => {
      const made: Record<string, unknown> = {};
      for (const [key, [, value]] of entries) made[key] = value(view, key);
      return made as z.output<typeof schema>;
    };
    return Object.assign(toPublic, { schema });
  };
}

/** An object or null. If a named schema were `nullable`, the document's generator would make it nullable everywhere. */
export function orNull<Schema extends z.ZodType>(schema: Schema) {
  return z.union([schema, z.null()]);
}

/** The view's value under the key's own name. */
export function same<Schema extends z.ZodType>(schema: Schema) {
  return [
    schema,
    <Key extends string>(view: Readonly<Record<Key, z.output<Schema>>>, key: Key) => view[key],
  ] as const;
}

export const quantity = z
  .union([z.string(), z.number()])
  .describe('Money as a decimal string, a duration in seconds, or text');
export const severitySchema = z.enum(severities);
export const outcomeSchema = z.enum(outcomeKinds);
export const balanceSchema = z.string().describe('One of the balances of the account');
export const text = z.string();
export const texts = z.record(z.string(), z.string());
export const runway = z
  .number()
  .nullable()
  .describe('By the forecast, without top-ups that are only expected');
export const instant = z.iso.datetime().describe('ISO 8601, UTC');
export const money = z.string().describe('A decimal string without trailing zeros');

/** An instant of the view under the key's own name. */
export function at(description?: string) {
  const schema = instant.nullable();
  return [
    description === undefined ? schema : schema.describe(description),
    <Key extends string>(view: Readonly<Record<Key, number | null>>, key: Key) => isoOrNull(view[key]),
  ] as const;
}

/** Money as a decimal string, a duration as seconds, text as it is. */
export function quantityJson(quantity: Quantity): string | number {
  if (quantity.unit === 'money') return formatMicros(quantity.micros);
  return quantity.unit === 'duration' ? quantity.ms / 1000 : quantity.text;
}

/** A prediction may fall between two milliseconds. */
export function isoOrNull(at: number | null): string | null {
  return at === null ? null : isoText(Math.round(at));
}

export function moneyOrNull(micros: Micros | null | undefined): string | null {
  return micros === null || micros === undefined ? null : formatMicros(micros);
}

export function secondsOrNull(ms: number | null | undefined): number | null {
  return ms === null || ms === undefined ? null : Math.round(ms / 1000);
}
