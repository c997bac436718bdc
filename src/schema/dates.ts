import * as z from 'zod';
import { isoText } from '../domain/moment.ts';
import { isHolidayRegion, suggestRegions } from '../spending/public-holidays.ts';
import { quoteKey } from '../wording/lists.ts';

const datePattern = '^\\d{4}-\\d{2}-\\d{2}$';
/** ISO 3166: a country, or a part of it. */
const regionPattern = '^[A-Z]{2}(-[A-Za-z0-9]+){0,2}$';

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

const holidayForm = 'must be a date such as "2026-12-25", or a country or region such as "DE" or "DE-BY"';
const listForm = 'must be a country or region such as "DE-BY", or a list of dates and regions';

// No `textLeaf`: what a transformation refuses, a union says nothing of.
const holiday = z
  .string({ error: holidayForm })
  .superRefine((text, context) => {
    if (!isDate(text) && !isHolidayRegion(text))
      context.addIssue({ code: 'custom', message: explainRegion(text) });
  })
  .meta({
    description: 'A day, as year, month and day, or the public holidays of a country or region.',
    pattern: `${datePattern}|${regionPattern}|\\$\\{`,
  });

/** Days that count as the last day of the weekend: dates, countries and regions, in a list or a single one. */
export const holidays = z
  .union([holiday, z.array(holiday, { error: listForm })], { error: listForm })
  .transform((names) => (typeof names === 'string' ? [names] : names));

function explainRegion(text: string): string {
  const known = /^[a-z]{2,3}(-[a-z0-9]+)*$/i.test(text) ? suggestRegions(text) : [];
  if (known.length === 0) return holidayForm;
  return known.length === 1
    ? `unknown country or region; did you mean ${quoteKey(known[0] ?? '')}?`
    : `unknown region; known in this country: ${known.join(', ')}`;
}

/** `Date.parse` takes the 30th of February for the 2nd of March. */
function isDate(text: string): boolean {
  if (!new RegExp(datePattern).test(text)) return false;
  const at = Date.parse(`${text}T00:00Z`);
  return Number.isFinite(at) && isoText(at).startsWith(text);
}
