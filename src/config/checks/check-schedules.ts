import { getOrMake } from '../../domain/get-or-make.ts';
import { isTimeZone, parseDuration } from '../../domain/time.ts';
import type { Calendar } from '../../ports/clock.ts';
import { payCron } from '../../schema/times.ts';
import { entryPositions, type Position } from '../draft.ts';

export interface CronCheck {
  readonly calendar: Calendar;
  /** A cron expression must run after this instant. */
  readonly now: number;
}

/** Cron expressions must run some day, and polls have one schedule only. */
export function checkSchedules(file: Position, check: CronCheck): void {
  const own = file.at('accounts').items('poll');
  const polls = [file.at('poll'), ...own.map((account) => account.at('poll'))];
  for (const poll of polls) checkPoll(poll);
  /** Many accounts share few expressions, and computing a run is the slowest part of loading a file. */
  const known = new Map<string, string | null>();
  for (const place of [...polls, ...file.at('silences').items(), ...file.at('reports').items()]) {
    const cron = place.at('cron');
    const { text } = cron;
    if (text === null) continue;
    const zones = [place.at('timezone').text, file.at('timezone').text];
    const zone = zones.find((candidate) => candidate !== null && isTimeZone(candidate)) ?? 'UTC';
    const found = getOrMake(known, `${zone} ${text}`, () => findProblem(text, zone, check));
    if (found !== null) cron.report(describeCron(text, found, cron.isFilled));
  }
}

/** Pay days that occur in no month are a mistake. */
export function checkPayDays(file: Position, check: CronCheck): void {
  const entries = entryPositions(file).map(({ position }) => position);
  for (const place of [file, ...entries].map((entry) => entry.at('payDays'))) {
    const cron = place.text === null ? null : payCron(place.text);
    const found = cron === null ? null : findProblem(cron, 'UTC', check);
    if (found !== null && place.text !== null) place.report(describeCron(place.text, found, place.isFilled));
  }
}

function checkPoll(poll: Position): void {
  if (typeof poll.value !== 'object' || poll.value === null) return;
  const [every, cron] = [poll.has('every'), poll.has('cron')];
  if (every && cron) poll.at('cron').report('either every or cron, not both');
  else if (!every && !cron) poll.report('needs either every or cron');
  else if (poll.has('timezone') && !cron) poll.at('timezone').report('goes with cron only');
  else checkNearEmpty(poll.at('nearEmpty'), poll.at('every'));
}

function checkNearEmpty(nearEmpty: Position, every: Position): void {
  const nearEmptyMs = parseDuration(nearEmpty.text ?? '');
  const everyMs = parseDuration(every.text ?? '');
  if (nearEmptyMs === null) return;
  if (every.value === undefined) nearEmpty.report('goes with every only');
  else if (everyMs !== null && nearEmptyMs >= everyMs) nearEmpty.report('must be shorter than every');
}

function findProblem(cron: string, timezone: string, { calendar, now }: CronCheck): string | null {
  try {
    return calendar.next(cron, timezone, now) === null ? neverRuns : null;
  } catch (error) {
    return error instanceof Error ? error.message : 'not a cron expression';
  }
}

const neverRuns = 'this expression never runs';

const cronForm = 'must be a cron expression of five fields: minute hour day month weekday';

/** The findings may quote parts of the expression, so they are shown only for a text that surely is a cron expression. */
function describeCron(cron: string, found: string, isFilled: boolean): string {
  if (isFilled || !looksLikeCron(cron)) return cronForm;
  const fields = cron.trim().split(/\s+/).length;
  if (fields !== 5) return `${cronForm}; this one has ${fields}`;
  return found === neverRuns
    ? 'must run some day: this cron expression never does'
    : `${cronForm}; ${sayFound(found.replace(/^CronPattern: /, '').toLowerCase())}`;
}

/** The parser counts days and months from 0, so the value that it names is not the one in the file. */
function sayFound(found: string): string {
  const [, field = ''] = /^invalid value for (\w+): -?\d+$/.exec(found) ?? [];
  const range = cronRanges.get(field);
  return range === undefined ? found : `the ${range}`;
}

const cronRanges = new Map([
  ['minute', 'minute must be from 0 to 59'],
  ['hour', 'hour must be from 0 to 23'],
  ['day', 'day must be from 1 to 31'],
  ['month', 'month must be from 1 to 12'],
  ['dayofweek', 'weekday must be from 0 to 7'],
]);

function looksLikeCron(text: string): boolean {
  const fields = text.trim().split(/\s+/);
  return fields.length >= 4 && fields.length <= 7 && fields.every((field) => cronField.test(field));
}

const cronField =
  /^(?:[\d*?,/#LW+-]|sun|mon|tue|wed|thu|fri|sat|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)+$/i;
