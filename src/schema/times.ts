import * as z from 'zod';
import { dayMs, isDay, isTimeZone } from '../domain/time.ts';
import { isHolidayRegion, suggestRegions } from '../spending/public-holidays.ts';
import { quoteKey } from '../wording/lists.ts';
import { shape } from './shapes.ts';
import { duration, oneLine, textLeaf } from './texts.ts';

const datePattern = '^\\d{4}-\\d{2}-\\d{2}$';
/** ISO 3166: a country, or a part of it. */
const regionPattern = '^[A-Z]{2}(-[A-Za-z0-9]+){0,2}$';

/** The days of the week on which nobody works. */
export const weekend = z
  .array(
    z.enum(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], {
      error: 'must be a day: mon, tue, wed, thu, fri, sat or sun',
    }),
    { error: 'must be a list of days such as ["fri", "sat"]' },
  )
  .max(6, { error: 'must leave a working day' });

const holidayForm = 'must be a date such as "2026-12-25", or a country or region such as "DE" or "DE-BY"';
const listForm = 'must be a country or region such as "DE-BY", or a list of dates and regions';

// Not a `textLeaf`, because a union does not report what a transformation refuses.
const holiday = z
  .string({ error: holidayForm })
  .superRefine((text, context) => {
    if (!isDay(text) && !isHolidayRegion(text))
      context.addIssue({ code: 'custom', message: explainRegion(text) });
  })
  .meta({
    description: 'A day, as year, month and day, or the public holidays of a country or region.',
    pattern: `${datePattern}|${regionPattern}|\\$\\{`,
  });

/** Days that count like the last day of the weekend: dates, countries and regions, in a list or a single one. */
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

/** The shortest poll interval, and the one below which the operator is asked whether it is meant. */
const shortestPollMs = 1000;
export const shortPollMs = 30_000;

export const cronText = oneLine(
  'Cron expression of five fields: minute, hour, day of month, month, day of week.',
);

export function zone(description: string) {
  const wrong = 'unknown time zone; use an IANA name such as "Europe/Berlin"';
  return textLeaf({
    description,
    allowed: 'must be a string on one line, not empty',
    read: (text) => (isTimeZone(text) ? { value: text } : { wrong }),
  });
}

export const timezone = zone(
  'IANA time zone, such as "Europe/Berlin". Default: the one at the top of the file.',
);

const dayList = /^(?:[1-9]|[12]\d|3[01])(?:, ?(?:[1-9]|[12]\d|3[01]))*$/;
const weekdayList = /^(?:mon|tue|wed|thu|fri|sat|sun)(?:, ?(?:mon|tue|wed|thu|fri|sat|sun))*$/;

/** Days on which payments are made, as a cron expression. Null for a text that is neither days nor a cron expression. */
export function payCron(text: string): string | null {
  const days = text.replaceAll(' ', '');
  if (dayList.test(text)) return `0 0 ${days} * *`;
  if (weekdayList.test(text)) return `0 0 * * ${days}`;
  return text.trim().split(/\s+/).length === 5 ? text : null;
}

const payDaysForm = 'must be days of the month such as "1,15", weekdays such as "fri", or a cron expression';

export const payDays = textLeaf({
  description:
    'When payments are made: days of the month ("1,15"), weekdays ("fri"), or a cron expression. A month without such a day has no run on it; "0 0 L * *" is the last day of each. What is due is then grouped by pay run: each holds so much that nothing is empty before the money of the next one arrives. Money counts as sent when the day is over, or at the hour that the expression names.',
  allowed: payDaysForm,
  examples: ['1,15', 'fri'],
  read(text) {
    const cron = payCron(text);
    return cron === null ? null : { value: cron };
  },
});

/** When an account is polled. A check across keys allows only one of `every` and `cron`. */
export const pollSchema = shape({
  every: duration('Time between polls. At least 1s; below 30s only with reason.', {
    minMs: shortestPollMs,
    maxMs: 30 * dayMs,
  }).optional(),
  cron: cronText.optional(),
  timezone: timezone.optional(),
  nearEmpty: duration(
    'Time between polls while the balance may run out within 24 hours, or an alert says that it does. Shorter than `every`.',
    { minMs: shortestPollMs },
  ).optional(),
}).describe('When to poll: either `every`, or `cron` with an optional `timezone`. Default: every 5m.');
