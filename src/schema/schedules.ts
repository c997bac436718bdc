import { dayMs } from '../domain/duration.ts';
import { shape } from './shapes.ts';
import { duration, oneLine } from './texts.ts';

/** The shortest poll interval, and from where on a configuration is asked whether it means it. */
const shortestPollMs = 1000;
export const shortPollMs = 30_000;

export const cronText = oneLine(
  'Cron expression of five fields: minute, hour, day of month, month, day of week.',
);

export const timezone = oneLine(
  'IANA time zone, such as "Europe/Berlin". Default: the one at the top of the file.',
);

/** When an account is polled. That only one of `every` and `cron` stands there is checked across keys. */
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
}).meta({
  description: 'When to poll: either `every`, or `cron` with an optional `timezone`. Default: every 5m.',
});
