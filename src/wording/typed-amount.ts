import { type Micros, parseMicros } from '../domain/money.ts';
import { narrowed } from '../domain/plain-text.ts';
import type { Language } from './phrase.ts';

/**
 * An amount as people write it in their language: `1400`, `1,400.00`, in Spanish `1.400,00`, also in the wide digits of a Chinese keyboard.
 * Null for a text that is no number, or may be another one.
 */
export function readTypedAmount(typed: string, { marks }: Pick<Language, 'marks'>): Micros | null {
  const { group, point } = marks;
  const text = narrowed(typed);
  const isGrouped = new RegExp(`^[1-9]\\d{0,2}(?:[${group}]\\d{3})+(?:[${point}]\\d*)?$`).test(text);
  // Nobody pays with three decimals: whoever types 1.400 in English means a thousand times as much.
  if (!isGrouped && /^[1-9]\d{0,2}[.,]\d{3}$/.test(text)) return null;
  return parseMicros((isGrouped ? text.replaceAll(group, '') : text).replace(point, '.'));
}
