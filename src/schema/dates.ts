import * as z from 'zod';
import { isoText } from '../domain/moment.ts';
import { textLeaf } from './texts.ts';

const datePattern = '^\\d{4}-\\d{2}-\\d{2}$';

const date = textLeaf({
  description: 'A day, as year, month and day.',
  allowed: 'must be a date such as "2026-12-25"',
  pattern: datePattern,
  read: (text) => (isDate(text) ? { value: text } : null),
});

/** The days of the week on which nobody works. */
export const weekend = z
  .array(
    z.enum(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], {
      error: 'must be a day: mon, tue, wed, thu, fri, sat or sun',
    }),
    {
      error: 'must be a list of days such as ["fri", "sat"]',
    },
  )
  .min(1, { error: 'must name at least one day' })
  .max(6, { error: 'must leave a working day' });

/** Days that count as the last day of the weekend. */
export const holidays = z.array(date, { error: 'must be a list of dates such as "2026-12-25"' });

/** `Date.parse` takes the 30th of February for the 2nd of March. */
function isDate(text: string): boolean {
  if (!new RegExp(datePattern).test(text)) return false;
  const at = Date.parse(`${text}T00:00Z`);
  return Number.isFinite(at) && isoText(at).startsWith(text);
}
