import { weekMs } from '../domain/duration.ts';
import { isoText } from '../domain/moment.ts';
import { plural } from '../domain/plural.ts';
import type { DamagedRecord, DamagedRun } from '../ports/store.ts';
import { damagedPollsRule, damagedRecordsRule, storageFailed } from '../rules/storage-failed.ts';
import { clearOwnFailure, noteOwnEvent, raiseOwnFailure } from './self-alerts.ts';
import { type MonitorState, scheduleBy } from './state.ts';

/** Nothing mends what was set aside, so its alert ends after this long without more. */
const shownMs = weekMs;
export function noteDamagedPolls(state: MonitorState, found: readonly DamagedRun[], now: number): void {
  for (const run of found) state.damaged.set(run.account, [...(state.damaged.get(run.account) ?? []), run]);
  for (const account of new Set(found.map((run) => run.account))) reviewDamagedPolls(state, account, now);
}

/** Raises the alert about damaged polls of an account, or ends it when its time is over. */
export function reviewDamagedPolls(state: MonitorState, account: string, now: number): void {
  const runs = state.damaged.get(account) ?? [];
  const rule = damagedPollsRule(account);
  const endsAt = Math.max(...runs.map(({ foundAt }) => foundAt)) + shownMs;
  if (now >= endsAt) {
    clearOwnFailure(state, rule, now);
    return;
  }
  const text = describeDamage(account, runs);
  raiseOwnFailure(state, { type: storageFailed.type, rule, severity: 'warning', text, now });
  scheduleBy(state, `damaged:${account}`, endsAt);
}

/** Records named in a message; the log names all of them. */
const namedRecords = 5;

/** Notifies of records that could not be read and were set aside: an event, for nothing mends them. */
export function noteDamagedRecords(
  state: MonitorState,
  records: readonly DamagedRecord[],
  now: number,
): void {
  const names = records.map(({ source, key, second, reason }) =>
    key === ''
      ? `the table ${source}: ${reason}`
      : `${source} ${key}${second === null ? '' : `/${second}`}: ${reason}`,
  );
  const more = names.length > namedRecords ? [`${names.length - namedRecords} more`] : [];
  const { type } = storageFailed;
  const text = `${plural(names.length, 'record')}: ${[...names.slice(0, namedRecords), ...more].join('; ')}`;
  noteOwnEvent(state, { type, rule: damagedRecordsRule, severity: 'critical', text, now });
}

/** `212 polls of otp, 2026-11-19 08:00 to 2026-11-20 12:00 UTC`. */
function describeDamage(account: string, runs: readonly DamagedRun[]): string {
  const polls = runs.reduce((sum, run) => sum + run.polls, 0);
  const begins = runs.flatMap(({ earliestAt }) => earliestAt ?? []);
  const ends = runs.flatMap(({ latestAt }) => latestAt ?? []);
  const from = begins.length < runs.length ? '' : `${minuteText(Math.min(...begins))} `;
  const to = ends.length === 0 ? '' : `to ${minuteText(Math.max(...ends))} UTC`;
  const span = `${from}${to}`;
  return `${plural(polls, 'poll')} of ${account}${span === '' ? '' : `, ${span}`}`;
}

function minuteText(at: number): string {
  return isoText(at).slice(0, 16).replace('T', ' ');
}
