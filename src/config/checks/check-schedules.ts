import { parseDuration } from '../../domain/duration.ts';
import type { Spot } from '../draft.ts';

/** What is wrong with a cron expression or its zone, in words; null when it will run after `now`. */
export type FindCronProblem = (cron: string, timezone: string, now: number) => string | null;

export interface CronCheck {
  readonly findCronProblem: FindCronProblem;
  readonly now: number;
}

/** Time zones must exist, cron expressions must run some day, and polls have one schedule only. */
export function checkSchedules(file: Spot, { findCronProblem, now }: CronCheck): void {
  const cron = { findCronProblem: remember(findCronProblem), now };
  const own = file
    .at('accounts')
    .items('poll')
    .map((account) => account.at('poll'));
  const polls = [file.at('poll'), ...own];
  checkZone(file.at('timezone'), cron);
  for (const account of file.at('accounts').items('timezone')) checkZone(account.at('timezone'), cron);
  for (const poll of polls) checkPoll(poll);
  for (const place of [...polls, ...file.at('silences').items(), ...file.at('reports').items()])
    checkCron(file, place, cron);
}

/** Many accounts share few expressions, and computing a run is the slowest thing in loading a file. */
function remember(findCronProblem: FindCronProblem): FindCronProblem {
  const known = new Map<string, string | null>();
  return (cron, timezone, now) => {
    const key = JSON.stringify([cron, timezone]);
    const found = known.has(key) ? (known.get(key) ?? null) : findCronProblem(cron, timezone, now);
    known.set(key, found);
    return found;
  };
}

function checkPoll(poll: Spot): void {
  if (typeof poll.value !== 'object' || poll.value === null) return;
  const [every, cron] = [poll.has('every'), poll.has('cron')];
  if (every && cron) poll.at('cron').report('either every or cron, not both');
  else if (!every && !cron) poll.report('needs either every or cron');
  else if (poll.has('timezone') && !cron) poll.at('timezone').report('goes with cron only');
  else checkNearEmpty(poll.at('nearEmpty'), poll.at('every'));
}

function checkNearEmpty(nearEmpty: Spot, every: Spot): void {
  const nearEmptyMs = parseDuration(nearEmpty.text ?? '');
  const everyMs = parseDuration(every.text ?? '');
  if (nearEmptyMs === null) return;
  if (every.value === undefined) nearEmpty.report('goes with every only');
  else if (everyMs !== null && nearEmptyMs >= everyMs) nearEmpty.report('must be shorter than every');
}

function checkCron(file: Spot, place: Spot, { findCronProblem, now }: CronCheck): void {
  const own = place.at('timezone');
  checkZone(own, { findCronProblem, now });
  const cron = place.at('cron');
  if (cron.text === null) return;
  const zones = [own.text, file.at('timezone').text, 'UTC'];
  const zone = zones.find((candidate) => candidate !== null && isZone(candidate, { findCronProblem, now }));
  const found = findCronProblem(cron.text, zone ?? 'UTC', now);
  if (found !== null) cron.report(describeCron(cron.text, found, cron.isFilled));
}

const cronForm = 'must be a cron expression of five fields: minute hour day month weekday';

/** The finder may quote parts of the expression: only what surely is a cron expression may be shown. */
function describeCron(cron: string, found: string, isFilled: boolean): string {
  if (isFilled || !looksLikeCron(cron)) return cronForm;
  const fields = cron.trim().split(/\s+/).length;
  if (fields !== 5) return `${cronForm}; this one has ${fields}`;
  return found === neverRuns
    ? 'must run some day: this cron expression never does'
    : `${cronForm}; ${found.replace(/^CronPattern: /, '').toLowerCase()}`;
}

/** What `findCronProblem` says of an expression that is right but has no day. */
const neverRuns = 'this expression never runs';

function checkZone(zone: Spot, cron: CronCheck): void {
  if (zone.text !== null && !isZone(zone.text, cron))
    zone.report('unknown time zone; use an IANA name such as "Europe/Berlin"');
}

/** Every minute runs in every zone, so what is found can only be about the zone. */
function isZone(zone: string, { findCronProblem, now }: CronCheck): boolean {
  return findCronProblem('* * * * *', zone, now) === null;
}

function looksLikeCron(text: string): boolean {
  const fields = text.trim().split(/\s+/);
  return fields.length >= 4 && fields.length <= 7 && fields.every((field) => cronField.test(field));
}

const cronField =
  /^(?:\d{1,4}|[*?,/#LW+-]|sun|mon|tue|wed|thu|fri|sat|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)+$/i;
