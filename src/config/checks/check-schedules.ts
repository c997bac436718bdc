import { parseDuration } from '../../domain/duration.ts';
import type { ConfigProblem } from '../../domain/operator-error.ts';
import type { Path } from '../config-problem.ts';
import { type Draft, itemsAt, itemsWith, problemAt, textAt, valueAt } from '../draft.ts';

/** What is wrong with a cron expression or its zone, in words; null when it will run after `now`. */
export type FindCronProblem = (cron: string, timezone: string, now: number) => string | null;

export interface CronCheck {
  readonly findCronProblem: FindCronProblem;
  readonly now: number;
}

/** Time zones must exist, cron expressions must run some day, and polls have one schedule only. */
export function checkSchedules(draft: Draft, { findCronProblem, now }: CronCheck): ConfigProblem[] {
  const cron = { findCronProblem: remember(findCronProblem), now };
  const polls = [['poll'], ...itemsWith(draft, ['accounts'], 'poll').map((account) => [...account, 'poll'])];
  const scheduled = [...polls, ...itemsAt(draft, ['silences']), ...itemsAt(draft, ['reports'])];
  return [
    ...checkZone(draft, ['timezone'], cron),
    ...itemsWith(draft, ['accounts'], 'timezone').flatMap((account) =>
      checkZone(draft, [...account, 'timezone'], cron),
    ),
    ...polls.flatMap((poll) => checkPoll(draft, poll)),
    ...scheduled.flatMap((place) => checkCron(draft, place, cron)),
  ];
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

function checkPoll(draft: Draft, poll: Path): ConfigProblem[] {
  const has = (key: string): boolean => valueAt(draft, [...poll, key]) !== undefined;
  const value = valueAt(draft, poll);
  if (typeof value !== 'object' || value === null) return [];
  if (has('every') && has('cron'))
    return [problemAt(draft, [...poll, 'cron'], 'either every or cron, not both')];
  if (!has('every') && !has('cron')) return [problemAt(draft, poll, 'needs either every or cron')];
  if (has('timezone') && !has('cron'))
    return [problemAt(draft, [...poll, 'timezone'], 'goes with cron only')];
  return checkNearEmpty(draft, poll);
}

function checkNearEmpty(draft: Draft, poll: Path): ConfigProblem[] {
  const path = [...poll, 'nearEmpty'];
  const nearEmptyMs = parseDuration(textAt(draft, path) ?? '');
  if (nearEmptyMs === null) return [];
  const everyMs = parseDuration(textAt(draft, [...poll, 'every']) ?? '');
  if (valueAt(draft, [...poll, 'every']) === undefined)
    return [problemAt(draft, path, 'goes with every only')];
  return everyMs !== null && nearEmptyMs >= everyMs
    ? [problemAt(draft, path, 'must be shorter than every')]
    : [];
}

function checkCron(draft: Draft, place: Path, { findCronProblem, now }: CronCheck): ConfigProblem[] {
  const zoneProblems = checkZone(draft, [...place, 'timezone'], { findCronProblem, now });
  const path = [...place, 'cron'];
  const cron = textAt(draft, path);
  if (cron === null) return zoneProblems;
  const zones = [textAt(draft, [...place, 'timezone']), textAt(draft, ['timezone']), 'UTC'];
  const zone = zones.find((candidate) => candidate !== null && isZone(candidate, { findCronProblem, now }));
  const found = findCronProblem(cron, zone ?? 'UTC', now);
  if (found === null) return zoneProblems;
  return [...zoneProblems, problemAt(draft, path, describeCron(cron, found, draft.isInterpolated(path)))];
}

const cronForm = 'must be a cron expression of five fields: minute hour day month weekday';

/** The finder may quote parts of the expression: only what surely is a cron expression may be shown. */
function describeCron(cron: string, found: string, isInterpolated: boolean): string {
  if (isInterpolated || !looksLikeCron(cron)) return cronForm;
  const fields = cron.trim().split(/\s+/).length;
  if (fields !== 5) return `${cronForm}; this one has ${fields}`;
  return found === neverRuns
    ? 'must run some day: this cron expression never does'
    : `${cronForm}; ${found.replace(/^CronPattern: /, '').toLowerCase()}`;
}

/** What `findCronProblem` says of an expression that is right but has no day. */
const neverRuns = 'this expression never runs';

function checkZone(draft: Draft, path: Path, cron: CronCheck): ConfigProblem[] {
  const zone = textAt(draft, path);
  if (zone === null || isZone(zone, cron)) return [];
  return [problemAt(draft, path, 'unknown time zone; use an IANA name such as "Europe/Berlin"')];
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
